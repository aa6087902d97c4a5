//! What holds for every text.

use ai_hist_redact::{Redaction, Redactor};
use proptest::prelude::*;
use serde_json::Value;

use crate::made::{BASE32, alnum, hex, jwt, key_block, random};

/// Pieces of which texts are made: secrets, what surrounds them, and what trips a scanner.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(secrets()),
        3 => prop::sample::select(NAMES).prop_map(str::to_owned),
        6 => prop::sample::select(JOINTS).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
    ]
}

#[rustfmt::skip]
const NAMES: &[&str] = &[
    "password", "\"password\": ", "PASSWORD=", "token", "\"token\":", "api_key", "secret: ",
    "--token", "TOKEN=", "bearer ", "://", "heroku_key", "eyJ", "sk-", "ghp_", "1:AA", "-us1",
    "\"auth\":\"", "8Q~", "[redacted:", "[redacted:jwt]",
];

#[rustfmt::skip]
const JOINTS: &[&str] = &[
    " ", "\n", "\"", "\\", "'", "`", "=", ":", ": ", "@", ",", "-", "_", ".", "/", "n", "\t",
    "\\n", "\\\"", "\\\\", "\\u00e9", "\\u003d", "é", "\u{1f511}", "%3D", "0", "1.5e9", "{", "}",
    "[", "]", ">",
];

fn secrets() -> Vec<String> {
    vec![
        "ghp_".to_owned() + &alnum(36),
        "AKIA".to_owned() + &random(BASE32, 16),
        "sk-ant-api03-".to_owned() + &alnum(90),
        "sk-proj-".to_owned() + &alnum(60),
        "hf_".to_owned() + &alnum(34),
        "dapi".to_owned() + &hex(32),
        format!("SG.{}.{}", alnum(22), alnum(43)),
        format!("xoxb-234567890123-{}", alnum(24)),
        hex(32) + "-us7",
        jwt(),
        key_block("PRIVATE KEY", "\n"),
        key_block("PRIVATE KEY", "\\n")[..150].to_owned(),
        "-----BEGIN PRIVATE KEY-----".to_owned(),
        "postgres://u:pw9@h".to_owned(),
        "Authorization: Bearer ".to_owned() + &alnum(30),
        "curl -u me:hunter22 ".to_owned(),
        "Summer2024!".to_owned(),
        alnum(20),
        hex(40),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..14).prop_map(|it| it.concat())
}

/// A JSON value whose keys and strings are such texts; a string may hold JSON itself.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => text().prop_map(Value::String),
        1 => prop::sample::select(vec![0.5, -1.5e300, 1_234_567_890.25]).prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop_oneof![
            text(),
            prop::sample::select(vec!["password", "token", "api_key", "auth", "heroku_key"])
                .prop_map(str::to_owned),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((key, inner.clone()), 0..4)
                .prop_map(|it| Value::Object(it.into_iter().collect())),
            inner.prop_map(|it| Value::String(it.to_string())),
        ]
    })
}

/// Whether `redacted` is `original` but for its strings.
fn has_shape_of(redacted: &Value, original: &Value) -> bool {
    match (redacted, original) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| has_shape_of(a, b))
        }
        // Two names that are secrets become one.
        (Value::Object(a), Value::Object(b)) => a.len() <= b.len(),
        (Value::String(_), Value::String(_)) => true,
        (a, b) => a == b,
    }
}

fn redact(text: &str) -> Redaction<'_> {
    Redactor::builtin().redact(text)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn redacting_twice_is_redacting_once(text in text()) {
        let once = redact(&text).text.into_owned();
        let twice = redact(&once);
        prop_assert!(twice.findings.is_empty(), "{:?} in `{once}` of `{text}`", twice.findings);
        prop_assert_eq!(&twice.text, &once);
    }

    #[test]
    fn ranges_say_what_was_replaced(text in text()) {
        let redaction = redact(&text);
        let mut expected = String::new();
        let mut at = 0;
        for finding in &redaction.findings {
            prop_assert!(at <= finding.range.start && finding.range.start < finding.range.end);
            expected += &text[at..finding.range.start];
            expected += "[redacted:";
            expected += finding.rule;
            expected += "]";
            at = finding.range.end;
        }
        expected += &text[at..];
        prop_assert_eq!(redaction.text, expected);
    }

    #[test]
    fn json_stays_json(value in value()) {
        let text = value.to_string();
        let redacted = redact(&text);
        let read: Result<Value, _> = serde_json::from_str(&redacted.text);
        prop_assert!(read.is_ok(), "`{}` of `{text}`", redacted.text);
        let read = read.expect("it was");
        prop_assert!(has_shape_of(&read, &value), "`{}` of `{text}`", redacted.text);
    }

    #[test]
    fn json_in_json_stays_json(value in value()) {
        let inner = value.to_string();
        let outer = Value::String(inner.clone()).to_string();
        let redacted = redact(&outer);
        let read: Result<String, _> = serde_json::from_str(&redacted.text);
        prop_assert!(read.is_ok(), "`{}` of `{outer}`", redacted.text);
        let read = read.expect("it was");
        prop_assert!(serde_json::from_str::<Value>(&read).is_ok(), "`{read}` of `{inner}`");
    }

    #[test]
    fn any_text_is_survived(text in "\\PC*") {
        redact(&text);
    }
}

/// Texts that make a careless scanner start over at every byte: one that does takes minutes for
/// each, and the runner ends it.
#[test]
fn the_worst_texts_come_to_an_end() {
    let redactor = Redactor::builtin();
    for unit in [
        "eyJ-eyJ_",
        "eyJaaaaaaaaaaaa.",
        "password=",
        "password=aaaaaaaaaaaaaaaa",
        "token=\"",
        "sk-",
        "sk-ant-",
        "ghs_.",
        "://a:",
        "://",
        "-----BEGIN PRIVATE KEY-----\n",
        "curl -u ",
        "xoxb-a-",
        "AAAA ",
        "\\",
        "\"auth\":\"",
        "--token ",
        "[redacted:",
        "secret_",
        "bearer a",
        "SECRET=A",
        "password=aaaaaaaaaaaaa1\\",
    ] {
        let text = unit.repeat((1 << 18) / unit.len());
        let findings = redactor.redact(&text).findings;
        assert!(findings.is_sorted_by(|a, b| a.range.end <= b.range.start), "`{unit}`");
        assert!(findings.iter().all(|it| text.get(it.range.clone()).is_some()), "`{unit}`");
    }
}
