//! Every rule, with the secrets it is for.

use ai_hist_redact::Redactor;

use crate::made::{BASE32, BASE64, alnum, hex, jwt, key_block, random, uuid};

/// `secret`, between `before` and `after`, is replaced, all of it and nothing else, as `rule`.
#[track_caller]
fn check(rule: &str, before: &str, secret: &str, after: &str) {
    let text = format!("{before}{secret}{after}");
    let redaction = Redactor::builtin().redact(&text);
    assert_eq!(redaction.text, format!("{before}[redacted:{rule}]{after}"), "in `{text}`");
    let [finding] = &redaction.findings[..] else {
        panic!("{:?} in `{text}`", redaction.findings);
    };
    assert_eq!(finding.rule, rule);
    assert_eq!(finding.range, before.len()..before.len() + secret.len());
}

/// A token that says itself what it is: alone, in JSON, in escaped JSON, in a URL, in a diff, in
/// colour, at the end of a sentence, in a command.
#[track_caller]
fn check_token(rule: &str, token: &str) {
    for (before, after) in [
        ("", ""),
        ("see ", "."),
        (r#"{"a":""#, r#"","b":1}"#),
        (r#"{"a":"{\"b\":\""#, r#"\"}"}"#),
        (r#"{"a":"first\n"#, r#"\nlast"}"#),
        (r#"{"a":"first\\n"#, r#"\\nlast"}"#),
        ("https://host/?q=", "&r=1"),
        ("- x\n-", "\n+ y"),
        ("\u{1b}[32m", "\u{1b}[0m"),
        ("`", "`"),
        ("'", "'"),
        ("<", ">"),
        ("key é", "é"),
    ] {
        check(rule, before, token, after);
    }
}

#[test]
fn tokens_with_a_prefix_are_found_wherever_they_are() {
    for (rule, token) in [
        ("age-key", "AGE-SECRET-KEY-1".to_owned() + &random(BASE32, 58)),
        ("aws-access-key-id", "AKIA".to_owned() + &random(BASE32, 16)),
        ("aws-access-key-id", "ASIA".to_owned() + &random(BASE32, 16)),
        ("aws-bedrock-key", "ABSK".to_owned() + &random(BASE64, 128)),
        ("gcp-api-key", "AIza".to_owned() + &alnum(35)),
        ("google-oauth", "GOCSPX-".to_owned() + &alnum(28)),
        ("google-oauth", "ya29.a0".to_owned() + &alnum(160)),
        ("google-oauth", "1//0g".to_owned() + &alnum(60)),
        ("azure-client-secret", format!("{}8Q~{}", alnum(3), alnum(34))),
        ("digitalocean-token", "dop_v1_".to_owned() + &hex(64)),
        ("heroku-key", "HRKU-AA".to_owned() + &alnum(58)),
        ("cloudflare-token", format!("v1.0-{}-{}", hex(24), hex(146))),
        ("databricks-token", "dapi".to_owned() + &hex(32)),
        ("databricks-token", format!("dapi{}-3", hex(32))),
        ("flyio-token", "fm2_".to_owned() + &random(BASE64, 120)),
        ("hashicorp-token", "hvs.".to_owned() + &alnum(90)),
        ("terraform-token", format!("{}.atlasv1.{}", alnum(14), alnum(67))),
        ("pulumi-token", "pul-".to_owned() + &hex(40)),
        ("planetscale-token", "pscale_tkn_".to_owned() + &alnum(43)),
        ("supabase-token", "sbp_".to_owned() + &hex(40)),
        ("supabase-token", "sb_secret_".to_owned() + &alnum(31)),
        ("tailscale-key", format!("tskey-auth-{}CNTRL-{}", alnum(10), alnum(32))),
        ("github-token", "ghp_".to_owned() + &alnum(36)),
        ("github-token", "gho_".to_owned() + &alnum(36)),
        ("github-token", "ghu_".to_owned() + &alnum(36)),
        ("github-token", "ghs_".to_owned() + &alnum(36)),
        ("github-token", "ghr_".to_owned() + &alnum(76)),
        ("github-token", format!("github_pat_{}_{}", alnum(22), alnum(59))),
        ("gitlab-token", "glpat-".to_owned() + &alnum(20)),
        ("gitlab-token", "glrt-".to_owned() + &alnum(20)),
        ("npm-token", "npm_".to_owned() + &alnum(36)),
        ("pypi-token", "pypi-AgE".to_owned() + &alnum(160)),
        ("cargo-token", "cio".to_owned() + &alnum(32)),
        ("rubygems-token", "rubygems_".to_owned() + &hex(48)),
        ("nuget-key", "oy2".to_owned() + &alnum(43).to_lowercase()),
        ("docker-token", "dckr_pat_".to_owned() + &alnum(27)),
        ("vercel-token", "vcp_".to_owned() + &alnum(56)),
        ("sourcegraph-token", format!("sgp_{}_{}", hex(16), hex(40))),
        ("anthropic-key", format!("sk-ant-api03-{}-{}AA", alnum(60), alnum(32))),
        ("anthropic-key", "sk-ant-oat01-".to_owned() + &alnum(95)),
        ("openai-key", "sk-".to_owned() + &alnum(48)),
        ("openai-key", format!("sk-proj-{}_{}-x", alnum(70), alnum(80))),
        ("openai-key", "sk-or-v1-".to_owned() + &hex(64)),
        ("huggingface-token", "hf_".to_owned() + &alnum(34)),
        ("model-service-key", "gsk_".to_owned() + &alnum(52)),
        ("model-service-key", "r8_".to_owned() + &alnum(37)),
        ("slack-token", format!("xoxb-2345678901-345678901234-{}", alnum(24))),
        ("slack-token", format!("xoxe.xoxp-1-{}", alnum(120))),
        ("slack-token", format!("xapp-1-A0{}-6789012345678-{}", random(BASE32, 9), hex(64))),
        ("stripe-key", "sk_live_".to_owned() + &alnum(24)),
        ("stripe-key", "rk_test_".to_owned() + &alnum(99)),
        ("stripe-key", "whsec_".to_owned() + &random(BASE64, 32)),
        ("sendgrid-key", format!("SG.{}.{}", alnum(22), alnum(43))),
        ("mailgun-key", "key-".to_owned() + &hex(32)),
        ("mailchimp-key", hex(32) + "-us12"),
        ("linear-key", "lin_api_".to_owned() + &alnum(40)),
        ("notion-token", "ntn_".to_owned() + &alnum(46)),
        ("notion-token", "secret_".to_owned() + &alnum(43)),
        ("atlassian-token", "ATATT3".to_owned() + &alnum(186)),
        ("shopify-token", "shpat_".to_owned() + &hex(32)),
        ("monitoring-key", format!("glsa_{}_{}", alnum(32), hex(8))),
        ("work-service-key", format!("PMAK-{}-{}", hex(24), hex(34))),
        ("jwt", jwt()),
    ] {
        check_token(rule, &token);
    }
}

#[test]
fn a_key_block_is_found_whole() {
    for kind in [
        "PRIVATE KEY",
        "RSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ] {
        for line_end in ["\n", "\r\n", r"\n", r"\\n", "\n    ", "\n+", "\n> ", "\n   12→", " "] {
            check("private-key", "x ", &key_block(kind, line_end), " y");
        }
    }
    let headers = "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011AA\n\n";
    let encrypted = key_block("RSA PRIVATE KEY", "\n").replacen("KEY-----\n", headers, 1);
    check("private-key", "x\n", &encrypted, "\ny");
    // A service account of Google Cloud, as a file and within a tool's input.
    let block = key_block("PRIVATE KEY", r"\n");
    check("private-key", r#"{"type":"service_account","private_key":""#, &block, r#"\n","x":1}"#);
    let block = key_block("PRIVATE KEY", r"\\n");
    check("private-key", r#"{"a":"{\"private_key\":\""#, &block, r#"\\n\"}"}"#);
}

#[test]
fn a_key_block_that_is_cut_off_is_found_as_far_as_it_goes() {
    let block = key_block("RSA PRIVATE KEY", "\n");
    check("private-key", "$ head -3 key\n", &block[..160], "\n$ ls");
    check("private-key", r#"{"a":""#, &key_block("RSA PRIVATE KEY", r"\n")[..161], r#""}"#);
}

#[test]
fn a_putty_key_is_found() {
    let lines = format!("\n{}\n{}", random(BASE64, 64), random(BASE64, 40));
    check("putty-key", "Private-Lines: 2", &lines, "\nPrivate-MAC: 00");
}

#[test]
fn the_password_of_a_url_is_found_alone() {
    for (before, password, after) in [
        ("mongodb+srv://u:", "p", "@h"),
        ("postgres://app:", "s3cr3t", "@db.internal:5432/app?sslmode=require"),
        ("postgresql://app:", "p#ss?w0rd!", "@localhost/app"),
        ("mysql://root:", "p@ss", "@127.0.0.1:3306/x"),
        ("mysql://root:", "pw", "@server"),
        ("mysql://root:", "pw", "@sha.host/x"),
        ("redis://:", "hunter2", "@cache:6379/0"),
        ("amqps://guest:", "gu3st", "@mq/vhost"),
        ("https://user:", "pa55", "@host/path"),
        ("mongodb://u:", "p", "@h1:27017,h2:27017/db"),
        (r#"{"url":"postgres:\/\/u:"#, "p1", r#"@h\/db"}"#),
        (r#"{"cmd":"psql \"postgres://u:"#, "p1", r#"@[::1]/db\""}"#),
    ] {
        check("url-password", before, password, after);
    }
}

#[test]
fn a_secret_is_found_by_its_place() {
    let basic = random(BASE64, 18) + "==";
    let opaque = alnum(40);
    for (rule, before, secret, after) in [
        ("authorization-header", "Authorization: Bearer ", &*opaque, ""),
        ("authorization-header", "authorization: Basic ", &basic, "\r\nHost: x"),
        ("authorization-header", r#"curl -H "Authorization: Bearer "#, &opaque, r#"" https://x"#),
        ("authorization-header", r#"{"Authorization":"Bearer "#, &opaque, r#""}"#),
        ("authorization-header", r#"{"a":"{\"Authorization\": \"Basic "#, &basic, r#"\"}"}"#),
        ("bearer-token", "the header was bearer ", &opaque, " again"),
        ("curl-password", "curl -sS -u admin:", "hunter22", " https://x"),
        ("curl-password", r#"{"cmd":"curl --user \"ci:"#, "hunter22", r#"\" https://x"}"#),
        ("flag-secret", "deploy --token ", &opaque, " --yes"),
        ("flag-secret", r#"["deploy","--password",""#, "c0rrect-Horse", r#""]"#),
        ("npmrc-auth", "//registry.host/:_authToken=", &uuid(), "\n"),
        ("docker-auth", r#"{"auths":{"h":{"auth":""#, &basic, r#""}}}"#),
        ("docker-auth", r#"{"a":"{\"auth\": \""#, &basic, r#"\"}"}"#),
        (
            "slack-webhook",
            "https://hooks.slack.com/services/",
            "T0AB12CD3/B0EF45GH6/ij78KL90mn12OP34",
            "",
        ),
        (
            "discord-webhook",
            "https://discord.com/api/webhooks/1122334455667788990/",
            &alnum(68),
            "",
        ),
        ("telegram-bot-token", "bot1234567890:", &format!("AA{}", alnum(33)), "/getMe"),
        ("aws-secret-key", "aws_secret_access_key = ", &random(BASE64, 40), "\n"),
        ("aws-secret-key", r#"{"SecretAccessKey":""#, &random(BASE64, 40), r#"","x":1}"#),
        ("aws-secret-key", r"AWS_SECRET_ACCESS_KEY=", &random(BASE64, 40), r"\nAWS_REGION=x"),
        ("aws-session-token", r#""SessionToken": ""#, &(random(BASE64, 340) + "=="), "\""),
        ("azure-storage-key", "AccountName=x;AccountKey=", &(random(BASE64, 86) + "=="), ";End"),
        ("azure-sas", "https://x/?sv=2024&sig=", &(alnum(43) + "%3D"), "&se=1"),
        ("heroku-key-by-name", "HEROKU_API_KEY=", &uuid(), "\n"),
        ("cloudflare-token-by-name", "CLOUDFLARE_API_TOKEN=", &alnum(40), "\n"),
        ("twilio-key", r#"twilioAuthToken: ""#, &hex(32), "\""),
        ("mailgun-key-by-name", "MAILGUN_KEY=", &format!("{}-{}-{}", hex(32), hex(8), hex(8)), ""),
        (
            "discord-bot-token",
            "DISCORD_TOKEN=",
            &format!("MT{}.{}.{}", alnum(22), alnum(6), alnum(38)),
            "\n",
        ),
    ] {
        check(rule, before, secret, after);
    }
}

#[test]
fn what_a_name_says_is_secret_is_found() {
    let random = alnum(20);
    for (rule, before, after) in [
        ("quoted-secret", r#"{"password": ""#, r#""}"#),
        ("quoted-secret", r#"{"a":"{\"password\": \""#, r#"\"}"}"#),
        ("quoted-secret", r#"{"a":"{\\\"password\\\":\\\""#, r#"\\\"}"}"#),
        ("quoted-secret", "const apiKey = '", "';"),
        ("quoted-secret", "client_secret: `", "`"),
        ("quoted-secret", r#"config["secret_key"] = ""#, "\""),
        ("quoted-secret", r#"x-api-key: ""#, "\""),
        ("quoted-secret", r#"DB_PASSWORD_PROD := ""#, "\""),
        ("quoted-secret", "config.py:12:password = \"", "\""),
        ("quoted-secret", "changePassword: \"", "\""),
        ("quoted-secret", "Config::password = \"", "\""),
        ("quoted-token", r#""access_token":""#, r#"","x":1"#),
        ("quoted-token", "authToken => '", "'"),
        ("bare-secret", "password: ", "\n"),
        ("bare-secret", r"x-api-key: ", r"\r\nHost: x"),
        ("bare-secret", "Server=x;Password=", ";Port=1"),
        ("bare-secret", "the secret=", "."),
        ("bare-token", "https://x/?token=", "&y=1"),
        ("bare-token", "refresh_token: ", "\n"),
        ("bare-token", "a.yaml:123456789012:token: ", "\n"),
        ("env-secret", ".env:12:DB_PASSWORD=", "\n"),
        ("env-secret", "DB_PASSWORD=", "\nDB_HOST=x"),
        ("env-secret", r#"export STRIPE_SECRET_KEY=""#, "\""),
        ("env-secret", r#"{"cmd":"API_KEY='"#, r#"' make"}"#),
        ("env-secret", r"A=1\nGITHUB_TOKEN=", r"\nB=2"),
    ] {
        check(rule, before, &random, after);
    }
    check("env-secret", "POSTGRES_PASSWORD=", "Summer2024!", "\n");
    check("quoted-secret", r#"{"password":""#, r#"aB3\"dE6\\gH9!kL"#, r#""}"#);
}

#[test]
fn overlapping_findings_are_one_and_the_first_rule_names_it() {
    let token = "ghp_".to_owned() + &alnum(36);
    check("github-token", r#"{"token":""#, &token, r#""}"#);
    check("github-token", "GITHUB_TOKEN=", &token, "\n");
    check("jwt", "Authorization: Bearer ", &jwt(), "");
    check("github-token", "https://x-access-token:", &token, "@github.com/a/b.git");
    check("github-token", r#"password = ""#, &format!("{token}-and-more"), "\"");
}

#[test]
fn findings_come_in_the_order_of_the_text() {
    let token = "npm_".to_owned() + &alnum(36);
    let text = format!("{token} postgres://u:pw@h {token}");
    let redaction = Redactor::builtin().redact(&text);
    let rules: Vec<_> = redaction.findings.iter().map(|it| it.rule).collect();
    assert_eq!(rules, ["npm-token", "url-password", "npm-token"]);
    let expected =
        "[redacted:npm-token] postgres://u:[redacted:url-password]@h [redacted:npm-token]";
    assert_eq!(redaction.text, expected);
}

#[test]
fn what_a_marker_uncovers_is_found_too() {
    // The hyphen joins the second to the first, until the first is replaced.
    let (first, second) = ("hf_".to_owned() + &alnum(34), jwt());
    let third = "npm_".to_owned() + &alnum(36);
    let text = format!("{third} {first}-{second} {third}");
    let redaction = Redactor::builtin().redact(&text);
    let found: Vec<_> = redaction.findings.iter().map(|it| &text[it.range.clone()]).collect();
    assert_eq!(found, [&third, &first, &second, &third]);
    let npm = "[redacted:npm-token]";
    let expected = format!("{npm} [redacted:huggingface-token]-[redacted:jwt] {npm}");
    assert_eq!(redaction.text, expected);
}

#[test]
fn every_finding_can_be_described() {
    assert_eq!(Redactor::builtin().description("github-token"), Some("A token of GitHub."));
    assert_eq!(Redactor::builtin().description("no-such-rule"), None);
}
