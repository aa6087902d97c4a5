//! Calls of tools, and what they give.

use std::fmt::Write as _;

use super::Session;
use crate::history::{limits::MAX_OUTPUT_BYTES, line::Line, project::File, random::Random};

/// A call and its result. `input` and `outcome` are JSON, `answer` is text.
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: &'static str,
    pub(super) input: String,
    /// What the model is given.
    pub(super) answer: String,
    /// What the program keeps beside it.
    pub(super) outcome: String,
    pub(super) is_error: bool,
}

impl<'a> Session<'a> {
    /// Draws a call: most are commands, and files that are read or changed.
    pub(super) fn call(&mut self) -> Call {
        let mut call = match self.random.below(100) {
            0..46 => self.bash(),
            46..68 => self.read(),
            68..82 => self.edit(),
            82..88 => self.write_file(),
            88..94 => self.grep(),
            94..97 => self.todo(),
            _ => self.mcp(),
        };
        call.id = format!("toolu_01{}", self.random.hex_word(22));
        call
    }

    fn bash(&mut self) -> Call {
        let n_bytes = self.size(1_800, MAX_OUTPUT_BYTES);
        let (command, output) = self.command(n_bytes);
        let what = self.speech.title(&mut self.random);
        let mut input = Line::default();
        input.raw("{\"command\":").string(&command);
        input.raw(",\"description\":").string(&what).raw("}");
        let mut outcome = Line::default();
        if self.random.percent(9) {
            let answer = format!("Exit code {}\n{output}", self.random.between(1, 3));
            outcome.string(&format!("Error: {answer}"));
            return call("Bash", &input, answer, &outcome, true);
        }
        outcome.raw("{\"stdout\":").string(&output);
        outcome.raw(
            ",\"stderr\":\"\",\"interrupted\":false,\"isImage\":false,\
                     \"noOutputExpected\":false}",
        );
        call("Bash", &input, output, &outcome, false)
    }

    /// A command and about `n_bytes` that it prints. Some are run again and again in a session, and
    /// print the same.
    fn command(&mut self, n_bytes: u64) -> (String, String) {
        if self.random.percent(60) {
            return self.speech.command(&mut self.random, n_bytes);
        }
        let seed = self.random.rank(5) as u64;
        let random = &mut Random::of_part(self.seed, 100 + seed);
        let n_bytes = random.spread(3_000, 24).min(2 * n_bytes);
        self.speech.command(random, n_bytes)
    }

    fn read(&mut self) -> Call {
        let (file, path) = self.file();
        let from = if self.random.percent(60) { 0 } else { self.random.below(file.n_lines) };
        let n_bytes = self.size(4_000, 2 * MAX_OUTPUT_BYTES);
        let to = (from + n_bytes / 32 + 1).min(file.n_lines);
        let mut numbered = String::new();
        for n in from..to {
            let _ = write!(numbered, "{}\t", n + 1);
            self.speech.source_line(file, n, &mut numbered);
            numbered.push('\n');
        }
        let mut input = Line::default();
        input.put(format_args!("{{\"file_path\":\"{path}\"}}"));
        let mut outcome = Line::default();
        outcome.put(format_args!(
            "{{\"type\":\"text\",\"file\":{{\"filePath\":\"{path}\",\"content\":"
        ));
        outcome.string(&self.speech.source(file, from, to)).put(format_args!(
            ",\"numLines\":{},\"startLine\":{},\"totalLines\":{}}}}}",
            to - from,
            from + 1,
            file.n_lines
        ));
        call("Read", &input, numbered, &outcome, false)
    }

    fn edit(&mut self) -> Call {
        let (file, path) = self.file();
        let at = self.random.below(file.n_lines);
        let n_old = self.random.spread(3, 16).clamp(1, 20);
        let old = self.speech.source(file, at, at + n_old);
        let mut new = String::new();
        for _ in 0..self.random.spread(5, 20).clamp(1, 60) {
            new.push_str(&self.speech.new_line(file, &mut self.random));
            new.push('\n');
        }
        let mut input = Line::default();
        input.put(format_args!("{{\"replace_all\":false,\"file_path\":\"{path}\",\"old_string\":"));
        input.string(&old).raw(",\"new_string\":").string(&new).raw("}");
        let mut outcome = Line::default();
        outcome.put(format_args!("{{\"filePath\":\"{path}\",\"oldString\":")).string(&old);
        outcome.raw(",\"newString\":").string(&new).raw(",\"originalFile\":");
        let n_lines = self.size(5_000, MAX_OUTPUT_BYTES) / 32 + 1;
        outcome.string(&self.speech.source(file, 0, file.n_lines.min(n_lines)));
        outcome.put(format_args!(
            ",\"structuredPatch\":[{{\"oldStart\":{},\"oldLines\":{n_old},\"newStart\":{},\
             \"newLines\":{},\"lines\":[",
            at + 1,
            at + 1,
            new.lines().count()
        ));
        let lines = old.lines().map(|it| ('-', it)).chain(new.lines().map(|it| ('+', it)));
        for (i, (sign, line)) in lines.enumerate() {
            outcome.raw(if i > 0 { ",\"" } else { "\"" });
            outcome.put(format_args!("{sign}")).part(line).raw("\"");
        }
        outcome.raw("]}],\"userModified\":false,\"replaceAll\":false}");
        let answer = format!("The file {path} has been updated successfully.");
        call("Edit", &input, answer, &outcome, false)
    }

    fn write_file(&mut self) -> Call {
        let (file, path) = self.file();
        let mut text = String::new();
        let n_bytes = self.size(2_500, MAX_OUTPUT_BYTES);
        while (text.len() as u64) < n_bytes {
            text.push_str(&self.speech.new_line(file, &mut self.random));
            text.push('\n');
        }
        let (mut input, mut outcome) = (Line::default(), Line::default());
        input.put(format_args!("{{\"file_path\":\"{path}\",\"content\":")).string(&text).raw("}");
        outcome.put(format_args!("{{\"type\":\"create\",\"filePath\":\"{path}\",\"content\":"));
        outcome.string(&text);
        outcome.raw(",\"structuredPatch\":[],\"originalFile\":null,\"userModified\":false}");
        call("Write", &input, format!("File created successfully at: {path}"), &outcome, false)
    }

    fn grep(&mut self) -> Call {
        let n_bytes = self.size(900, MAX_OUTPUT_BYTES);
        let found = self.speech.output(&mut self.random, n_bytes);
        let name = &self.speech.project.name(&mut self.random).snake;
        let (mut input, mut outcome) = (Line::default(), Line::default());
        input.put(format_args!(
            "{{\"pattern\":\"{name}\",\"output_mode\":\"content\",\"-n\":true}}"
        ));
        outcome.raw("{\"mode\":\"content\",\"numFiles\":0,\"filenames\":[],\"content\":");
        let n_lines = found.lines().count();
        outcome.string(&found).put(format_args!(",\"numLines\":{n_lines}}}"));
        call("Grep", &input, found, &outcome, false)
    }

    fn todo(&mut self) -> Call {
        let mut todos = Line::default();
        for i in 0..self.random.between(2, 7) {
            let state = ["completed", "in_progress", "pending"][self.random.index(3)];
            todos.raw(if i > 0 { ",{\"content\":" } else { "{\"content\":" });
            todos.string(&self.speech.title(&mut self.random));
            todos.put(format_args!(",\"status\":\"{state}\",\"activeForm\":\"Working\"}}"));
        }
        let (mut input, mut outcome) = (Line::default(), Line::default());
        input.put(format_args!("{{\"todos\":[{}]}}", todos.as_str()));
        outcome.put(format_args!("{{\"oldTodos\":[],\"newTodos\":[{}]}}", todos.as_str()));
        let answer = "Todos have been modified successfully.".to_owned();
        call("TodoWrite", &input, answer, &outcome, false)
    }

    fn mcp(&mut self) -> Call {
        let n_bytes = self.size(1_200, MAX_OUTPUT_BYTES);
        let output = self.speech.output(&mut self.random, n_bytes);
        let (mut input, mut outcome) = (Line::default(), Line::default());
        input.raw("{\"query\":").string(&self.speech.title(&mut self.random)).raw("}");
        outcome.raw("[{\"type\":\"text\",\"text\":").string(&output).raw("}]");
        call("mcp__tracker__search_issues", &input, output, &outcome, false)
    }

    /// A file of the project, and its whole path.
    fn file(&mut self) -> (&'a File, String) {
        let project = self.speech.project;
        let file = project.file(&mut self.random);
        (file, format!("{}/{}", project.cwd, file.path))
    }
}

fn call(name: &'static str, input: &Line, answer: String, outcome: &Line, is_error: bool) -> Call {
    Call {
        id: String::new(),
        name,
        input: input.as_str().to_owned(),
        answer,
        outcome: outcome.as_str().to_owned(),
        is_error,
    }
}
