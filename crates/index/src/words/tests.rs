//! What the terms of a text are.

use super::*;

/// `term@position`, with `/` before a part and `!` before an ideograph by itself.
fn terms(text: &str) -> String {
    let mut words = Words::new(text);
    let mut term = String::new();
    let mut terms = Vec::new();
    let mut end = 0;
    while let Some(place) = words.next(&mut term) {
        let mark = match place.role {
            Role::Whole => "",
            Role::Part => "/",
            Role::Glyph => "!",
        };
        assert!(text.get(place.range.clone()).is_some(), "`{text}`: {place:?}");
        assert!(term.len() <= MAX_TERM_BYTES + 2, "`{text}`: `{term}`");
        end = end.max(place.position + place.n_positions);
        terms.push(format!("{mark}{term}@{}", place.position));
    }
    terms.join(" ")
}

#[track_caller]
fn check(rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(terms(text), *expected, "`{text}`");
    }
}

#[test]
fn words_are_words_in_any_case() {
    check(&[
        ("", ""),
        ("  \n\t.,;!", ""),
        ("Fix the Bug", "fix@0 the@1 bug@2"),
        ("HTTP 404", "http@0 404@1"),
        ("don't", "don@0 t@1"),
        ("a b", "a@0 b@1"),
        ("x\0y", "x@0 y@1"),
        ("$HOME --flag", "home@0 flag@1"),
        ("_ __ x", "x@0"),
    ]);
}

#[test]
fn identifiers_are_whole_and_in_parts() {
    check(&[
        ("handleUserLogin", "handleuserlogin@0 /handle@0 /user@1 /login@2"),
        ("HandleUser now", "handleuser@0 /handle@0 /user@1 now@2"),
        ("MAX_RETRY_COUNT", "max_retry_count@0 /max@0 /retry@1 /count@2"),
        ("getHTTPResponse", "gethttpresponse@0 /get@0 /http@1 /response@2"),
        ("__init__", "__init__@0 /init@0"),
        ("sha256", "sha256@0 /sha@0 /256@1"),
        ("x86_64", "x86_64@0 /86@1 /64@2"),
        ("IPv4Address", "ipv4address@0 /pv@1 /address@3"),
        ("git-rebase", "git@0 rebase@1"),
        ("error-401", "error@0 401@1"),
        ("status:500", "status@0 500@1"),
        ("std::vector", "std@0 vector@1"),
        ("CLAUDE.md", "claude@0 md@1"),
        ("src/auth/userLogin.rs", "src@0 auth@1 userlogin@2 /user@2 /login@3 rs@4"),
        (r"C:\Users\dev", "c@0 users@1 dev@2"),
        ("C++ c# F#", "c++@0 c#@1 f#@2"),
        ("a#b", "a@0 b@1"),
    ]);
}

#[test]
fn numbers_in_base_16_are_no_identifiers() {
    check(&[
        ("3f2a9bc1", "3f2a9bc1@0"),
        ("019f26d2-378f-7123", "019f26d2@0 378f@1 7123@2"),
        ("blob_3f2a9bc1", "blob_3f2a9bc1@0 /blob@0 /3f2a9bc1@1"),
    ]);
}

#[test]
fn case_and_composition_do_not_matter() {
    check(&[
        ("İstanbul ISTANBUL", "istanbul@0 istanbul@1"),
        ("Straße STRASSE", "strasse@0 strasse@1"),
        ("caf\u{e9} cafe\u{301}", "caf\u{e9}@0 caf\u{e9}@1"),
        ("ﬁle ＦＵＬＬ", "file@0 full@1"),
        ("Σίσυφος ΣΊΣΥΦΟΣ", "σίσυφοσ@0 σίσυφοσ@1"),
        ("Привет", "привет@0"),
        ("so\u{ad}ft", "soft@0"),
        ("größe_max", "grösse_max@0 /grösse@0 /max@1"),
        ("✅ done", "✅@0 done@1"),
    ]);
}

#[test]
fn ideographs_go_in_pairs() {
    check(&[
        ("数据库", "数据@0 据库@1 /库@2"),
        ("迁移", "迁移@0 /移@1"),
        ("库", "!库@0"),
        ("用handleLogin做", "!用@0 handlelogin@1 /handle@1 /login@2 !做@3"),
        ("カタカナ", "カタ@0 タカ@1 カナ@2 /ナ@3"),
        ("ｶﾞｷﾞ", "ガギ@0 /ギ@1"),
        ("한국어", "한국@0 국어@1 /어@2"),
    ]);
}

#[test]
fn what_is_no_text_is_left_out() {
    let blob = format!("data:image/png;base64,{}== end", "iVBORw0KGgoAAAANSUhEUgAA+x/y".repeat(20));
    let hash = "9f".repeat(64);
    let long = "a".repeat(MAX_WORD_BYTES);
    check(&[
        ("\x1b[1;31merror\x1b[0m: x", "error@0 x@1"),
        ("\x1b]8;;https://a.b\x1b\\link\x1b]8;;\x07", "link@0"),
        ("\\u001b[31mred\\x1b[0m \\033[1mbold \\e[4mline", "red@0 bold@1 line@2"),
        ("\x1b", ""),
        ("\x1b[", ""),
        (&blob, "data@0 image@1 png@2 base64@3 /base@3 /64@4 end@6"),
        (&format!("a {} b", "f".repeat(MAX_WORD_BYTES + 1)), "a@0 b@2"),
        (&hash, &format!("{}@0", &hash[..MAX_TERM_BYTES])),
        (&long, &format!("{}@0", &long[..MAX_TERM_BYTES])),
        (&"é".repeat(40), &format!("{}@0", "é".repeat(32))),
    ]);
    let path = "/usr/local/lib/node_modules/typescript-language-server/Node16/".repeat(8);
    assert!(terms(&path).starts_with("usr@0 local@1 lib@2 node_modules@3"));
}

#[test]
fn the_escapes_of_json_are_no_letters() {
    check(&[
        (r#"{"cmd":"a\nbar\tbaz"}"#, "cmd@0 a@1 bar@2 baz@3"),
        (r#"{"x":"C:\\new\\test \"q\" \u00e9"}"#, "x@0 c@1 new@2 test@3 q@4"),
        (r#"[{"a":1}]"#, "a@0 1@1"),
        (r"C:\new\test", "c@0 new@1 test@2"),
        (r"[INFO] C:\new", "info@0 c@1 new@2"),
    ]);
}

#[test]
fn any_text_is_walked_to_its_end() {
    let signs = [
        "\\", "\x1b", "\x1b]", "_", "a", "Z", "9", "é", "\u{301}", "库", "\u{200d}", "{\"", "+",
        "👍",
    ];
    for a in signs {
        for b in signs {
            for c in signs {
                terms(&format!("{a}{b}{c}"));
                terms(&format!("{{\"{a}{b}{c}"));
            }
        }
    }
}
