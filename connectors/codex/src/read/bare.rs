//! The format of August 2025 and before: items without an envelope, and a head that says little.

use super::{
    fact::state_git,
    json::{Json, Malformed},
    scribe::{Scribe, Verdict},
    state::Mark,
};

/// Reads the first record: `{id, timestamp, instructions, git?}`.
///
/// Where the session began is not in it, but in the `<environment_context>` that follows.
pub(super) fn head(whole: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let [git] = whole.fields(["git"])?;
    to.state.set(Mark::HasMeta);
    to.facts();
    if let Some(git) = git {
        state_git(to, git)?;
    }
    Ok(Verdict::understood("head"))
}

/// The working directory in an `<environment_context>`, as a tag or as a sentence.
pub(super) fn cwd(context: &str) -> Option<&str> {
    let tagged = context.split_once("<cwd>").and_then(|(_, rest)| rest.split_once("</cwd>"));
    let cwd = match tagged {
        Some((cwd, _)) => cwd,
        None => {
            let (_, rest) = context.split_once("Current working directory: ")?;
            rest.lines().next()?
        }
    };
    Some(cwd.trim()).filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_working_directory_stands_in_the_context() {
        let table = [
            ("<environment_context>\n  <cwd>/a b</cwd>\n</environment_context>", Some("/a b")),
            (
                "<environment_context>\nCurrent working directory: /a\nApproval policy: x\n",
                Some("/a"),
            ),
            ("<environment_context>\n  <cwd></cwd>\n</environment_context>", None),
            ("<environment_context>\n</environment_context>", None),
        ];
        for (context, expected) in table {
            assert_eq!(cwd(context), expected, "{context}");
        }
    }
}
