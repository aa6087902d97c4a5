//! A model server on this machine: it speaks the protocols of both agents on one port, says what
//! the scripts say, and keeps every request.

mod events;
mod messages;
mod responses;
pub(crate) mod scenario;

use std::{
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
};

use scenario::{Reply, Script, Step};
use serde_json::{Value, json};
use tiny_http::{Header, Method, Request, Response, Server};

/// A model server.
pub(crate) struct MockModel {
    server: Arc<Server>,
    asked: Arc<Mutex<Vec<Asked>>>,
    thread: Option<JoinHandle<()>>,
}

/// What was asked of the model.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The step that was answered; `None` for whatever no script is about.
    pub(crate) step: Option<Step>,
    /// The tool results since the script's tag.
    pub(crate) results: Vec<String>,
    pub(crate) body: Value,
}

impl MockModel {
    pub(crate) fn start(scripts: Vec<Script>) -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").expect("listens"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (listener, log) = (Arc::clone(&server), Arc::clone(&asked));
        let thread = thread::spawn(move || {
            for request in listener.incoming_requests() {
                serve(request, &scripts, &log);
            }
        });
        Self { server, asked, thread: Some(thread) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.server_addr())
    }

    /// What the model was last asked within a script: the whole conversation.
    pub(crate) fn last(&self, script: &str) -> Asked {
        let asked = self.asked.lock().expect("the server did not panic");
        let within = |asked: &&Asked| asked.step.is_some_and(|step| step.script == script);
        asked.iter().rfind(within).unwrap_or_else(|| panic!("`{script}` never ran")).clone()
    }
}

impl Drop for MockModel {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(mut request: Request, scripts: &[Script], log: &Mutex<Vec<Asked>>) {
    let mut bytes = Vec::new();
    // A client that breaks off has no body; the record of that is as good as any.
    let _ = request.as_reader().read_to_end(&mut bytes);
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let mut asked = Asked { step: None, results: Vec::new(), body };
    let path = request.url().split('?').next().unwrap_or_default().to_owned();
    let (status, kind, text) = match (request.method(), path.as_str()) {
        (Method::Post, "/v1/messages") => {
            let reply = choose(&mut asked, scripts, messages::turns, messages::has_tools);
            (200, "text/event-stream", messages::answer(&asked.body, &reply))
        }
        (Method::Post, "/v1/responses") => {
            let reply = choose(&mut asked, scripts, responses::turns, responses::has_tools);
            (200, "text/event-stream", responses::answer(&asked.body, &reply))
        }
        (Method::Post, "/v1/messages/count_tokens") => {
            (200, "application/json", json!({ "input_tokens": 100 }).to_string())
        }
        (Method::Get, "/v1/models") => {
            (200, "application/json", json!({ "data": [], "models": [] }).to_string())
        }
        (Method::Head, _) => (200, "application/json", String::new()),
        (Method::Connect, _) => (403, "text/plain", "no other host can be reached".to_owned()),
        _ => (404, "application/json", json!({ "error": { "message": path } }).to_string()),
    };
    log.lock().expect("no other thread panics").push(asked);
    let header = Header::from_bytes("Content-Type", kind).expect("is a header");
    let response = Response::from_string(text).with_status_code(status).with_header(header);
    // A client may have ended meanwhile.
    let _ = request.respond(response);
}

fn choose(
    asked: &mut Asked,
    scripts: &[Script],
    turns: fn(&Value) -> Vec<scenario::Turn>,
    has_tools: fn(&Value) -> bool,
) -> Reply {
    if !has_tools(&asked.body) {
        // Clients ask for a title in this way. The prompt is in it, and with it the tag.
        return Reply::Say(json!({ "title": "A piece of work" }).to_string());
    }
    let (step, reply, results) = scenario::answer(scripts, &turns(&asked.body));
    asked.step = step;
    asked.results = results;
    reply
}
