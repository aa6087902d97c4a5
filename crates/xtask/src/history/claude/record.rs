//! Records: what is around what is said.

use std::fmt;

use super::{Mode, Session, VERSION, Who};

impl Session<'_> {
    /// Begins a record of the chain; what it says follows.
    pub(super) fn begin(&mut self) {
        self.line.clear();
        match &self.last {
            Some(uuid) => self.line.put(format_args!("{{\"parentUuid\":\"{uuid}\"")),
            None => self.line.raw("{\"parentUuid\":null"),
        };
        match &self.who {
            Who::Session => self.line.raw(",\"isSidechain\":false,"),
            Who::Agent(id) => {
                self.line.put(format_args!(",\"isSidechain\":true,\"agentId\":\"{id}\","))
            }
        };
    }

    /// Ends and writes the record that was begun. Gives its `uuid`.
    pub(super) fn end(&mut self) -> Result<String, String> {
        let uuid = self.random.uuid();
        let time = self.now.iso();
        let project = self.speech.project;
        self.line.put(format_args!(
            ",\"uuid\":\"{uuid}\",\"timestamp\":\"{time}\",\"userType\":\"external\",\
             \"entrypoint\":\"cli\",\"cwd\":\"{}\",\"sessionId\":\"{}\",\"version\":\"{VERSION}\",\
             \"gitBranch\":\"{}\"}}",
            project.cwd, self.id, project.branch
        ));
        self.count();
        self.transcript.line(&self.line)?;
        self.last = Some(uuid.clone());
        Ok(uuid)
    }

    /// Writes a record outside the chain; `fields` come after its type. A fork does not copy it.
    pub(super) fn meta(&mut self, kind: &str, fields: fmt::Arguments<'_>) -> Result<(), String> {
        self.line.clear();
        self.line
            .put(format_args!("{{\"type\":\"{kind}\"{fields},\"sessionId\":\"{}\"}}", self.id));
        self.end_meta()
    }

    /// Writes what is in the line, as a record outside the chain.
    pub(super) fn end_meta(&mut self) -> Result<(), String> {
        self.count();
        if self.mode == Mode::Copied {
            return Ok(());
        }
        self.transcript.line(&self.line)
    }

    fn count(&mut self) {
        let n_bytes = self.line.as_str().len() as u64 + 1;
        self.spent += n_bytes;
        self.since_compaction += n_bytes;
    }
}
