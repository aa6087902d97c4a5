//! A value in a record that is taken as what it should be, and as absent if it is something else.
//!
//! Fields change their type from one version of the agent to the next. A field that we do not
//! recognize must not cost the record it stands in.

use std::{borrow::Cow, fmt, marker::PhantomData};

use ai_hist_connector::model::Timestamp;
use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};

use super::time;

/// A string, a number or a flag; absent if null or anything else.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) enum Scalar<'a> {
    /// Nothing of use.
    #[default]
    Absent,
    /// `true` or `false`.
    Flag(bool),
    /// A number, cut to a whole one that is not negative.
    Whole(u64),
    /// A string.
    Words(Cow<'a, str>),
}

impl Scalar<'_> {
    /// The string, unless it is empty.
    pub(crate) fn words(&self) -> Option<&str> {
        match self {
            Self::Words(words) if !words.is_empty() => Some(words),
            Self::Words(_) | Self::Absent | Self::Flag(_) | Self::Whole(_) => None,
        }
    }

    /// Whether it is `true`.
    pub(crate) const fn is_true(&self) -> bool {
        matches!(self, Self::Flag(true))
    }

    /// The number, or 0.
    pub(crate) const fn count(&self) -> u64 {
        match self {
            Self::Whole(number) => *number,
            Self::Absent | Self::Flag(_) | Self::Words(_) => 0,
        }
    }

    /// The point in time: a text in the ISO form, or milliseconds.
    pub(crate) fn time(&self) -> Option<Timestamp> {
        match self {
            Self::Words(words) => time::parse(words),
            Self::Whole(ms) => i64::try_from(*ms).ok().map(Timestamp),
            Self::Absent | Self::Flag(_) => None,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Scalar<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Scalar::Words(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Scalar::Words(Cow::Owned(text.to_owned())))
            }
            fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
                Ok(Scalar::Words(Cow::Owned(text)))
            }
            fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
                Ok(Scalar::Flag(flag))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Scalar::Whole(number))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Scalar::Whole(u64::try_from(number).unwrap_or(0)))
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the cast saturates, which is what is wanted"
            )]
            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                Ok(Scalar::Whole(number as u64))
            }
            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Scalar::Absent)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                pass_over(seq)?;
                Ok(Scalar::Absent)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Scalar::Absent)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// An object; absent if it is anything else.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Object<T>(pub(super) Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Any<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|it| Object(Some(it)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                pass_over(seq)?;
                Ok(Object(None))
            }
            fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
                Ok(Object(None))
            }
            fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Object(None))
            }
            fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
                Ok(Object(None))
            }
            fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
                Ok(Object(None))
            }
            fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
                Ok(Object(None))
            }
            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Object(None))
            }
        }
        deserializer.deserialize_any(Any(PhantomData))
    }
}

pub(super) fn pass_over<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<(), A::Error> {
    while seq.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_another_type_is_absent_and_costs_nothing_else() {
        #[derive(Deserialize)]
        struct Line<'a> {
            #[serde(borrow, default)]
            a: Scalar<'a>,
            #[serde(borrow)]
            b: Scalar<'a>,
            #[serde(default)]
            c: Object<Inner>,
        }
        #[derive(Deserialize)]
        struct Inner {
            d: u8,
        }
        for odd in ["null", "{\"x\":[1]}", "[{\"x\":1}]", "\"\"", "true", "1.5", "-3"] {
            let text = format!("{{\"a\":{odd},\"b\":\"words\",\"c\":{{\"d\":7}}}}");
            let line: Line<'_> = serde_json::from_str(&text).expect("parses");
            assert_eq!(line.a.words(), None, "{odd}");
            assert_eq!(line.b.words(), Some("words"), "{odd}");
            assert_eq!(line.c.0.map(|it| it.d), Some(7), "{odd}");
            let text =
                format!("{{\"b\":\"words\",\"c\":{}}}", odd.replace('{', "[{").replace('}', "}]"));
            let line: Line<'_> = serde_json::from_str(&text).expect("parses");
            assert!(line.c.0.is_none(), "{odd}");
        }
    }
}
