using System.Collections.Generic;
using Newtonsoft.Json;
using Newtonsoft.Json.Converters;

namespace Payments
{
    // NSwag leaves out what is one of several, and the fields of the first of them.
    public abstract class SubscriptionDetails { }
    public partial class CategorySubscription : SubscriptionDetails { }
    public partial class AllSubscription : SubscriptionDetails { }
    public partial class EventSubscription : SubscriptionDetails
    {
        [JsonProperty("type")]
        public string Type { get { return "EVENT"; } }

        [JsonProperty("details", ItemConverterType = typeof(StringEnumConverter))]
        public ICollection<EventName> Details { get; set; }
    }
}
