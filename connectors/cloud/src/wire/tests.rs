//! That lines say what events said.

use ai_hist_connector::model::{AgentId, NativeEventKey, NativeSessionId, SessionKey};

use super::*;

const ID: &str = "11111111-1111-4111-8111-111111111111";

fn session() -> SessionId {
    let native = NativeSessionId::parse("s-1").expect("is harmless");
    SessionKey { agent: AgentId::from_static("claude"), native }.id()
}

fn span() -> Span {
    Span { first_byte: 7, n_bytes: 8 }
}

fn event(author: Author, body: EventBody) -> Event {
    let key = NativeEventKey("e".to_owned());
    Event::new(session(), &key, Some(Timestamp(-1)), author, body, span())
}

#[test]
fn events_come_back_as_they_were() {
    let texts = ["", "a\nb\r\u{2028}\0\u{1b}[0m", "\u{feff}😀 \"\\\u{10ffff}", "{\"a\":1}"];
    let model = Author::Model { name: Some("m".to_owned()) };
    for text in texts {
        let text = || text.to_owned();
        for (author, body) in [
            (Author::Person, EventBody::Message { text: text() }),
            (Author::Agent, EventBody::Message { text: text() }),
            (Author::Harness, EventBody::Message { text: text() }),
            (Author::Model { name: None }, EventBody::Message { text: text() }),
            (Author::Model { name: Some(String::new()) }, EventBody::Message { text: text() }),
            (model.clone(), EventBody::Reasoning { text: text() }),
            (model.clone(), EventBody::ToolCall { call: text(), tool: text(), input: text() }),
            (Author::Harness, EventBody::Plan { text: text() }),
            (Author::Harness, EventBody::Compaction { summary: text() }),
            (Author::Harness, EventBody::Marker { name: text(), text: text() }),
            (Author::Harness, EventBody::Unknown { kind: text(), text: text() }),
        ] {
            check(&event(author, body));
        }
        for outcome in [ToolOutcome::Success, ToolOutcome::Failure, ToolOutcome::Unstated] {
            let body = EventBody::ToolResult { call: text(), outcome, output: text() };
            check(&event(Author::Tool, body));
        }
        for change in [Change::Create, Change::Update, Change::Delete, Change::Move] {
            for call in [None, Some(text())] {
                let body = EventBody::FileEdit { call, path: text(), change, diff: text() };
                check(&event(Author::Tool, body));
            }
        }
    }
    for at in [None, Some(Timestamp(0)), Some(Timestamp(i64::MIN)), Some(Timestamp(i64::MAX))] {
        let body = EventBody::Plan { text: String::new() };
        check(&Event { at, ..event(Author::Harness, body) });
    }
}

fn check(event: &Event) {
    let mut line = Vec::new();
    write(event, &mut line).expect("writes");
    assert_eq!(line.pop(), Some(b'\n'));
    assert!(!line.contains(&b'\n'), "{event:?} is one line");
    assert_eq!(read(&line, session(), span()).as_ref(), Ok(event));
    assert_eq!(read_id(&line), Some(event.id));
}

#[test]
fn what_is_not_understood_is_kept_whole() {
    for (line, kind) in [
        (format!(r#"{{"v":1,"id":"{ID}","author":"person","kind":"dance","steps":3}}"#), "dance"),
        (format!(r#"{{"v":1,"id":"{ID}","author":"cat","kind":"message","text":"m"}}"#), "message"),
        (format!(r#"{{"v":2,"id":"{ID}","author":"person","kind":"message"}}"#), "message"),
        (
            format!(r#"{{"v":1,"id":"{ID}","author":"tool","kind":"tool_result","call":"c"}}"#),
            "tool_result",
        ),
        (
            format!(
                r#"{{"v":1,"id":"{ID}","author":"tool","kind":"file_edit","path":"p","change":"melt"}}"#
            ),
            "file_edit",
        ),
        (
            format!(r#"{{"v":1,"id":"{ID}","author":"person","kind":"message","text":["m"]}}"#),
            "message",
        ),
        (format!(r#"{{"v":2,"id":"{ID}"}}"#), "unstated"),
    ] {
        let event = read(line.as_bytes(), session(), span()).expect("reads");
        assert_eq!(event.id.to_string(), ID);
        assert_eq!(event.body, EventBody::Unknown { kind: kind.to_owned(), text: line });
    }
}

#[test]
fn an_unknown_field_is_passed_over() {
    let line = format!(
        r#"{{"mood":{{"a":[1]}},"v":1,"text":"hi","kind":"message","author":"person","id":"{ID}"}}"#
    );
    let event = read(line.as_bytes(), session(), span()).expect("reads");
    assert_eq!(event.author, Author::Person);
    assert_eq!(event.body, EventBody::Message { text: "hi".to_owned() });
}

#[test]
fn a_line_without_an_id_is_damaged() {
    for line in
        ["", "{", "[]", "{}", "null", r#"{"v":1,"id":7}"#, r#"{"v":1,"id":"x","kind":"plan"}"#]
    {
        assert!(read(line.as_bytes(), session(), span()).is_err(), "`{line}`");
        assert_eq!(read_id(line.as_bytes()), None);
    }
    assert!(read(b"{\"v\":1,\"id\":\"\xff\"}", session(), span()).is_err());
}

#[test]
fn a_line_has_the_form_that_other_machines_read() {
    let model = Author::Model { name: Some("m".to_owned()) };
    let text = || "t".to_owned();
    for (author, body, rest) in [
        (
            model,
            EventBody::ToolCall { call: "c".to_owned(), tool: "Edit".to_owned(), input: text() },
            r#""author":"model","model":"m","kind":"tool_call","name":"Edit","call":"c","text":"t"}"#,
        ),
        (
            Author::Tool,
            EventBody::ToolResult {
                call: "c".to_owned(),
                outcome: ToolOutcome::Unstated,
                output: text(),
            },
            r#""author":"tool","kind":"tool_result","call":"c","outcome":"unstated","text":"t"}"#,
        ),
        (
            Author::Tool,
            EventBody::FileEdit {
                call: None,
                path: "p".to_owned(),
                change: Change::Create,
                diff: text(),
            },
            r#""author":"tool","kind":"file_edit","path":"p","change":"create","text":"t"}"#,
        ),
        (
            Author::Person,
            EventBody::Message { text: text() },
            r#""author":"person","kind":"message","text":"t"}"#,
        ),
        (
            Author::Harness,
            EventBody::Unknown { kind: "k".to_owned(), text: text() },
            r#""author":"harness","kind":"unknown","name":"k","text":"t"}"#,
        ),
    ] {
        let event = event(author, body);
        let mut line = Vec::new();
        write(&event, &mut line).expect("writes");
        let line = String::from_utf8(line).expect("is text");
        assert_eq!(line, format!("{{\"v\":1,\"id\":\"{}\",\"at\":-1,{rest}\n", event.id));
    }
}
