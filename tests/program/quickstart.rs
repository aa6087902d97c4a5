//! The README's first command.

use crate::machine::{CODEX, Machine, said};

#[test]
fn quickstart_shows_the_whole_product_on_bundled_samples() {
    let machine = Machine::new();
    let output = machine.run(&["quickstart"]);
    let text = said(&output);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    for part in ["1. index", "2. search", "3. hand a session over", "each exactly once", "4. what"]
    {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    assert!(!machine.state().exists(), "it leaves nothing behind");
}

#[test]
fn quickstart_uses_what_is_there() {
    let machine = Machine::new().with_codex();
    let shown = machine.json(&["quickstart"]);
    assert_eq!(shown["samples"], false);
    assert_eq!(shown["handoff"]["pointer"]["session_id"], CODEX);
    assert_eq!(shown["handoff"]["rows"], shown["handoff"]["rows_total"]);
}
