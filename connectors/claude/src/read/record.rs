//! A record as it stands in the file, borrowed from its line.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::value::RawValue;

use super::scalar::{Object, Scalar};

/// A record of any kind, with the fields that those of the conversation have. Which it has, its kind
/// and the agent's version decide; all others are absent.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Record<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Scalar<'a>,
    #[serde(borrow)]
    pub(super) subtype: Scalar<'a>,
    #[serde(borrow)]
    pub(super) uuid: Scalar<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Scalar<'a>,
    #[serde(borrow)]
    pub(super) session_id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) cwd: Scalar<'a>,
    #[serde(borrow)]
    pub(super) version: Scalar<'a>,
    #[serde(borrow)]
    pub(super) git_branch: Scalar<'a>,
    #[serde(borrow)]
    pub(super) entrypoint: Scalar<'a>,
    #[serde(borrow)]
    pub(super) attribution_agent: Scalar<'a>,
    #[serde(borrow)]
    pub(super) is_sidechain: Scalar<'a>,
    #[serde(borrow)]
    pub(super) is_meta: Scalar<'a>,
    #[serde(borrow)]
    pub(super) is_compact_summary: Scalar<'a>,
    #[serde(borrow)]
    pub(super) is_api_error_message: Scalar<'a>,
    #[serde(borrow)]
    pub(super) prompt_source: Scalar<'a>,
    #[serde(borrow)]
    pub(super) origin: Object<Origin<'a>>,
    #[serde(borrow)]
    pub(super) request_id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) forked_from: Object<ForkedFrom<'a>>,
    #[serde(borrow)]
    pub(super) message: Object<Message<'a>>,
    #[serde(borrow)]
    pub(super) tool_use_result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) attachment: Option<&'a RawValue>,
    /// Of an assistant record a word, of a system record an object.
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) content: Scalar<'a>,
}

/// The fields of a record that stands outside the conversation. They are apart from [`Record`],
/// which every line is read as, to keep that small.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Meta<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Scalar<'a>,
    #[serde(borrow)]
    pub(super) operation: Scalar<'a>,
    #[serde(borrow)]
    pub(super) summary: Scalar<'a>,
    #[serde(borrow)]
    pub(super) leaf_uuid: Scalar<'a>,
    #[serde(borrow)]
    pub(super) ai_title: Scalar<'a>,
    #[serde(borrow)]
    pub(super) custom_title: Scalar<'a>,
    #[serde(borrow)]
    pub(super) agent_name: Scalar<'a>,
    #[serde(borrow)]
    pub(super) pr_url: Scalar<'a>,
    #[serde(borrow)]
    pub(super) remote_session_id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) continued_in_session_id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) relocated_cwd: Scalar<'a>,
    #[serde(borrow)]
    pub(super) tag: Scalar<'a>,
    #[serde(borrow)]
    pub(super) worktree_session: Object<Worktree<'a>>,
    #[serde(borrow)]
    pub(super) data: Object<Typed<'a>>,
}

impl<'a> Meta<'a> {
    /// Reads `text` once more, which is a record.
    pub(super) fn of(text: &'a str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }
}

/// Where a user record comes from.
#[derive(Debug, Deserialize)]
pub(super) struct Origin<'a> {
    #[serde(borrow, default)]
    pub(super) kind: Scalar<'a>,
}

/// What a session was copied from.
#[derive(Debug, Deserialize)]
pub(super) struct ForkedFrom<'a> {
    #[serde(borrow, default, rename = "sessionId")]
    pub(super) session_id: Scalar<'a>,
}

/// An object of which only the type matters.
#[derive(Debug, Deserialize)]
pub(super) struct Typed<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Scalar<'a>,
}

/// The worktree that a session was moved into.
#[derive(Debug, Deserialize)]
pub(super) struct Worktree<'a> {
    #[serde(borrow, default, rename = "originalHeadCommit")]
    pub(super) original_head_commit: Scalar<'a>,
}

/// A message, or of the model's a fragment: one content block as a rule.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) model: Scalar<'a>,
    #[serde(borrow)]
    pub(super) content: Content<'a>,
    #[serde(borrow)]
    pub(super) usage: Object<Tokens<'a>>,
}

/// What one model call cost.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens<'a> {
    #[serde(borrow, rename = "input_tokens")]
    pub(super) input: Scalar<'a>,
    #[serde(borrow, rename = "output_tokens")]
    pub(super) output: Scalar<'a>,
    #[serde(borrow, rename = "cache_read_input_tokens")]
    pub(super) cache_read: Scalar<'a>,
    #[serde(borrow, rename = "cache_creation_input_tokens")]
    pub(super) cache_write: Scalar<'a>,
}

/// A part of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Scalar<'a>,
    #[serde(borrow)]
    pub(super) text: Scalar<'a>,
    #[serde(borrow)]
    pub(super) thinking: Scalar<'a>,
    #[serde(borrow)]
    pub(super) id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) name: Scalar<'a>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_use_id: Scalar<'a>,
    #[serde(borrow)]
    pub(super) content: Content<'a>,
    #[serde(borrow)]
    pub(super) is_error: Scalar<'a>,
    #[serde(borrow)]
    pub(super) source: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_name: Scalar<'a>,
    #[serde(borrow)]
    pub(super) title: Scalar<'a>,
    #[serde(borrow)]
    pub(super) url: Scalar<'a>,
}

/// What a message or a tool result holds.
#[derive(Debug, Default)]
pub(super) enum Content<'a> {
    /// Nothing of use.
    #[default]
    Absent,
    /// Text alone.
    Words(Cow<'a, str>),
    /// Parts.
    Blocks(Vec<Block<'a>>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Content<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or blocks")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Words(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Words(Cow::Owned(text.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(Element(block)) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let block = Block::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Content::Blocks(vec![block]))
            }
            fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Content::Absent)
            }
            fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
                Ok(Content::Absent)
            }
            fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
                Ok(Content::Absent)
            }
            fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
                Ok(Content::Absent)
            }
            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Content::Absent)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// A part of a message as an element of its list; a bare string is a text.
struct Element<'a>(Block<'a>);

impl<'de> Deserialize<'de> for Element<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Element<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a block")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Block::deserialize(MapAccessDeserializer::new(map)).map(Element)
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Element(Block::text(Cow::Borrowed(text))))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Element(Block::text(Cow::Owned(text.to_owned()))))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Element(Block::default()))
            }
            fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Element(Block::default()))
            }
            fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
                Ok(Element(Block::default()))
            }
            fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
                Ok(Element(Block::default()))
            }
            fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
                Ok(Element(Block::default()))
            }
            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Element(Block::default()))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl<'a> Block<'a> {
    fn text(text: Cow<'a, str>) -> Self {
        let kind = Scalar::Words(Cow::Borrowed("text"));
        Self { kind, text: Scalar::Words(text), ..Self::default() }
    }
}
