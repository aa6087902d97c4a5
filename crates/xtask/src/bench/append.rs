//! Lines that are added to a session, each with a word of its own.

use std::{
    fs::File,
    io::Write as _,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use super::{figure::Figure, program::Program, server::Server};

/// How many lines are waited for.
const N_LINES: usize = 30;

/// A line that is not found after this long is not found at all.
const PATIENCE: Duration = Duration::from_secs(30);

/// Between two questions, so that the server is not kept busy with them.
const PAUSE: Duration = Duration::from_millis(5);

/// Words that nothing else holds.
pub(super) struct Words {
    n: usize,
}

impl Words {
    pub(super) fn new() -> Self {
        Self { n: 0 }
    }

    /// Adds a line to `session`. Gives a word in it to search for, and one that only what is
    /// found can hold: an answer may repeat the question.
    pub(super) fn append(&mut self, session: &Path) -> Result<(String, String), String> {
        self.n += 1;
        let n = self.n;
        let (asked, seen) = (format!("qzasked{n}zq"), format!("qzseen{n}zq"));
        let id = session.file_stem().unwrap_or_default().to_string_lossy();
        let line = format!(
            "{{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\"message\":{{\
             \"role\":\"user\",\"content\":\"{asked} {seen}\"}},\
             \"uuid\":\"00000000-0000-4000-8000-{n:012x}\",\
             \"timestamp\":\"2026-11-01T00:{:02}:{:02}.000Z\",\"userType\":\"external\",\
             \"cwd\":\"/home/dev\",\"sessionId\":\"{id}\",\"version\":\"2.1.332\"}}\n",
            n / 60 % 60,
            n % 60
        );
        let fault = |error| format!("cannot write `{}`: {error}", session.display());
        let mut file = File::options().append(true).open(session).map_err(fault)?;
        file.write_all(line.as_bytes()).map_err(fault)?;
        Ok((asked, seen))
    }
}

/// How long it takes until a server that was there before finds a new line.
pub(super) fn until_found(
    program: &Program,
    session: &Path,
    words: &mut Words,
) -> Result<Vec<Figure>, String> {
    let mut server = Server::start(program)?;
    // The first answer opens the store.
    server.search("warm")?;
    let mut times = Vec::new();
    for _ in 0..N_LINES {
        let begins = Instant::now();
        let (asked, seen) = words.append(session)?;
        while !server.search(&asked)?.contains(&seen) {
            if begins.elapsed() > PATIENCE {
                return Err(format!("`{asked}` is not found"));
            }
            thread::sleep(PAUSE);
        }
        times.push(begins.elapsed());
    }
    times.sort_unstable();
    Ok(vec![
        Figure::new("line written to line found: p50", times[N_LINES / 2].into(), None),
        Figure::new(
            "line written to line found: p99",
            times[N_LINES * 99 / 100].into(),
            Some(Duration::from_millis(500).into()),
        ),
    ])
}
