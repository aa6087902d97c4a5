//! What looks like a secret and is none.

use std::borrow::Cow;

use ai_hist_redact::Redactor;

use crate::made::{BASE64, alnum, hex, random, uuid};

#[track_caller]
fn check(text: &str) {
    let redaction = Redactor::builtin().redact(text);
    assert!(redaction.findings.is_empty(), "{:?} in `{text}`", redaction.findings);
    assert!(matches!(redaction.text, Cow::Borrowed(_)), "`{text}` was copied");
}

#[test]
fn hashes_and_ids_are_left_alone() {
    let integrity = format!("\"integrity\": \"sha512-{}==\"", random(BASE64, 86));
    for text in [
        format!("commit {}", hex(40)),
        format!("fixup! {} (HEAD -> main)", hex(7)),
        format!("\"gitCommitHash\":\"{}\"", hex(40)),
        format!("token: {}", hex(40)),
        format!("\"pageToken\": \"{}\"", uuid()),
        format!("nextToken={}", uuid()),
        format!("\"NextToken\": \"{}==\"", random(BASE64, 60)),
        format!("continuation_token={}", alnum(40)),
        format!("arn:aws:secretsmanager:us-west-2:123456789012:secret:MySecret-{}", alnum(12)),
        format!("sha256:{}", hex(64)),
        format!("docker://alpine:3.20@sha256:{}", hex(64)),
        format!("\"token\":\"sha256-{}=\"", random(BASE64, 43)),
        format!("session {}", uuid()),
        format!("toolu_01{}", alnum(22)),
        format!("ssh-ed25519 AAAAC3{} me@host", random(BASE64, 62)),
        format!("data:image/png;base64,{}", random(BASE64, 400)),
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----", random(BASE64, 64)),
        format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----", random(BASE64, 64)),
        integrity,
    ] {
        check(&text);
    }
}

#[test]
fn placeholders_are_left_alone() {
    for text in [
        concat!("AKIA", "IOSFODNN7EXAMPLE"),
        "api_key = \"your-api-key-goes-here-1\"",
        "api_key: \"YOUR_API_KEY_12345\"",
        "API_KEY=xxxxxxxxxxxxxxxx1",
        "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "ANTHROPIC_API_KEY=sk-ant-...",
        "password: \"changeme-12345\"",
        "password=<your password 123>",
        "Authorization: Bearer YOUR_TOKEN",
        "Authorization: Bearer <token>",
        "Authorization: Bearer test-token",
        "Authorization: Bearer ***",
        "export TOKEN=\"my-token-12345\"",
        "DB_PASSWORD=********",
        "postgres://user:***@host/db",
        "postgres://user:xxxx@host/db",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
        "it starts with -----BEGIN PRIVATE KEY----- and then come lines of base64",
    ] {
        check(text);
    }
}

#[test]
fn references_to_the_environment_are_left_alone() {
    for text in [
        "api_key = \"${OPENAI_API_KEY_2}\"",
        "apiKey: process.env.OPENAI_API_KEY1",
        "apiKey: \"process.env.OPENAI_API_KEY1\"",
        "password = os.environ[\"DB_PASSWORD_2\"]",
        "password: ${{ secrets.DB_PASSWORD1 }}",
        "password: \"{{ vault_db_password1 }}\"",
        "TOKEN=$(gh auth token)",
        "TOKEN=$GITHUB_TOKEN_2",
        "TOKEN=\"$GITHUB_TOKEN_2\"",
        "curl -u \"$USER:$PASS\" https://x",
        "curl -H \"Authorization: Bearer $TOKEN\" https://x",
        "Authorization: `Bearer ${token}`",
        "postgres://$USER:$PASSWORD@$HOST/db",
        "postgres://${USER}:${PASSWORD}@host/db",
        "postgres://{user}:{password}@host/db",
        "postgres://<user>:<password>@host/db",
        "secret: \"op://vault/item2/field\"",
    ] {
        check(text);
    }
}

#[test]
fn code_is_left_alone() {
    for text in [
        "const token = getTokenFromStore2(request);",
        "let token = self.tokens[index].value2;",
        "password: formData.passwordConfirmation2",
        "password: string; secret?: string | undefined",
        "def login(password: str = None, token: Optional[str] = None):",
        "if (password === confirmPassword2) {",
        "access_token_secret_name = my_secret_name_v2",
        "tokenizer: \"cl100k_base_2\"",
        "\"max_tokens\": 4096, \"input_tokens\": 123456789012",
        "{\"token\": 123456789012345.5e10}",
        "{\"password\": null, \"secret\": true, \"next\": \"aB3dE6gH9kL2mN\"}",
        "{\"password\":\"\",\"id\":\"aB3dE6gH9kL2mN5pQ\"}",
        "{\"fields\":[\"password\",\"aB3dE6gH9kL2mN5pQ\"]}",
        "pub const ChangedPassword: MSV1_0_PROTOCOL_MESSAGE_TYPE = 16;",
        "pub const PrivateKey: X509RequestInheritOptions = 16;",
        "command.extend(['--token', access_token_2])",
        "[\"password=\",9081726354.192837465e10,\"x\"]",
        "\"AWS::IAM::AccessKey\": \"62d91b17309e76c8\"",
        "PWD=/home/me/projects/app2",
        "TOKEN_URL=https://host2/oauth/token",
        "SECRET_NAME=prod-database-2",
        "API_KEY_FILE=/run/secrets/api_key2",
        "PASSWORD_EXPIRES=2026-01-01T00:00:00Z",
        "import { tokenColors2 } from '@scope/tokens-2';",
        "http://localhost:3000/@scope/package",
        "see http://a.host:8080, or mail me@host.org",
        "git@github.com:owner/repository.git",
        "task-abcdefghijklmnopqrstuvwxyz0123456789ABCD",
        "risk-0123456789abcdefghijklmnopqrstuvwxyzABCD",
        "npm_config_registry=https://registry.host/",
        "a bearer of bad news and of characteristically",
        "eyJ is how a JWT begins",
    ] {
        check(text);
    }
}

#[test]
fn part_of_a_longer_word_is_left_alone() {
    let blob = random(BASE64, 300);
    for token in [
        format!("AKIA{}", "ABCDEFGHIJKLMNOP"),
        format!("hf_{}", alnum(34)),
        format!("dapi{}", hex(32)),
        format!("cio{}", alnum(32)),
    ] {
        check(&format!("{blob}9{token}"));
    }
    check(&format!("cio{}", alnum(33)));
    check(&format!("dapi{}", hex(33)));
}

#[test]
fn markers_are_left_alone() {
    let random = alnum(20);
    for text in [
        // The name in a marker is no name next to a value.
        format!("[redacted:slack-token]: \"{random}\""),
        format!("[redacted:slack-token]=\"{random}\""),
        // Nor is a marker a part of a secret.
        format!("password=\"[redacted:jwt]{random}\""),
        format!("password=\"{}[redacted:jwt]{}\"", alnum(150), alnum(150)),
        "postgres://u:[redacted:url-password]@h".to_owned(),
        "DB_PASSWORD=[redacted:env-secret]".to_owned(),
        "Authorization: Bearer [redacted:jwt]".to_owned(),
    ] {
        check(&text);
    }
}
