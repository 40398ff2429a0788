//! The one module of serde_with that the generated client uses, for machines that have Debian's crates only.

pub mod rust {
    pub mod double_option {
        use serde::{Deserialize, Deserializer, Serialize, Serializer};

        pub fn deserialize<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
            deserializer: D,
        ) -> Result<Option<Option<T>>, D::Error> {
            Option::deserialize(deserializer).map(Some)
        }

        pub fn serialize<S: Serializer, T: Serialize>(value: &Option<Option<T>>, serializer: S) -> Result<S::Ok, S::Error> {
            match value {
                Some(inner) => inner.serialize(serializer),
                None => serializer.serialize_unit(),
            }
        }
    }
}
