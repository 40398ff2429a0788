use super::{AllSubscription, CategorySubscription, EventSubscription};

/// Written by hand, because the generator leaves it without a kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SubscriptionDetails {
    Event(EventSubscription),
    Category(CategorySubscription),
    All(AllSubscription),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Type {}
