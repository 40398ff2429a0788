using System;
using System.Collections.Generic;
using System.Globalization;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Threading.Tasks;
using Payments;

static class Program
{
    static string Env(string name) => Environment.GetEnvironmentVariable(name);

    static void Print(string name, object value) =>
        Console.WriteLine(name + "=" + Convert.ToString(value, CultureInfo.InvariantCulture));

    static void Main(string[] arguments) => (arguments.Length > 0 ? Exam.Serve() : Run()).GetAwaiter().GetResult();

    static async Task Run()
    {
        var http = new HttpClient();
        http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", Env("ACCESS_TOKEN"));
        var client = new PaymentsClient(http) { BaseUrl = Env("PAYMENTS_URL") };
        var run = Env("RUN");

        var last = "";
        var refunds = Env("REFUNDS").Split(',');
        for (var index = 0; index < refunds.Length; index++)
        {
            var parts = refunds[index].Split('=');
            last = run + "-exact" + index;
            var refund = await Refunds.Issue(client, parts[0], decimal.Parse(parts[1], CultureInfo.InvariantCulture), last);
            Print("exact" + index + ".status", refund.PaymentStatus);
            Print("exact" + index + ".paymentId", refund.PaymentId);
            Print("exact" + index + ".reference", refund.ClientReferenceId ?? "null");
        }

        var price = new Amount { Currency = AmountCurrency.USD, Value = 9.99 };
        var request = new RefundRequest { PaymentId = "pay_recent", Amount = price, RequestKey = run + "-pending" };
        request.ClientReferenceId = "order-1042";
        var pending = await client.IssueRefundAsync(request);
        Print("pending.status", pending.PaymentStatus);
        Print("pending.reference", pending.ClientReferenceId);

        request = new RefundRequest { PaymentId = "pay_failed", Amount = price, RequestKey = run + "-failed" };
        request.ClientRefefenceId = "order-1043";
        var failed = await client.IssueRefundAsync(request);
        Print("failed.status", failed.PaymentStatus);
        Print("failed.errorCode", failed.ErrorDetails.ErrorCode);
        Print("failed.reference", failed.ClientReferenceId);

        try
        {
            await Refunds.Issue(client, "pay_recent", 19.999m, run + "-invalid");
        }
        catch (ApiException<InvalidRequestProblem> error)
        {
            Print("invalid.status", error.StatusCode);
            foreach (var violation in error.Result.Violations) Print("invalid.pointer", violation.Pointer);
        }
        try
        {
            await Refunds.Issue(client, "pay_recent", 9.99m, last);
        }
        catch (ApiException<DuplicateRequestKeyProblem> error)
        {
            Print("duplicate.status", error.StatusCode);
            Print("duplicate.errorCode", error.Result.ErrorDetails.ErrorCode);
            Print("duplicate.existing", error.Result.Existing.PaymentId);
            Print("duplicate.amount", error.Result.Existing.Amount.Value);
        }

        var kinds = new Dictionary<string, SubscriptionDetails>
        {
            ["event"] = new EventSubscription { Details = new[] { EventName.Refund_authorized } },
            ["category"] = new CategorySubscription { Type = CategorySubscriptionType.CATEGORY, Details = new[] { EventCategory.PAYMENT } },
            ["all"] = new AllSubscription { Type = AllSubscriptionType.ALL },
        };
        foreach (var kind in kinds)
        {
            var details = new SubscriptionRequest { Url = new Uri("http://127.0.0.1:9/hooks"), SecretKey = Env("WEBHOOK_SECRET"), SubscriptionDetails = kind.Value };
            Print("subscription." + kind.Key, (await client.SubscribeToWebhooksAsync(details)).SubscriptionKey);
        }

        string secret = Env("WEBHOOK_SECRET"), id = Env("WEBHOOK_ID"), body = Env("WEBHOOK_BODY");
        string timestamp = Env("WEBHOOK_TIMESTAMP"), signature = Env("WEBHOOK_SIGNATURE");
        Print("webhook.genuine", Refunds.IsGenuine(secret, id, timestamp, signature, body) ? "true" : "false");
        Print("webhook.altered", Refunds.IsGenuine(secret, id, timestamp, signature, body + " ") ? "true" : "false");
        Print("webhook.old", Refunds.IsGenuine(secret, id, Env("OLD_TIMESTAMP"), Env("OLD_SIGNATURE"), body) ? "true" : "false");
        var forged = Array.Exists(Env("FORGERIES").Split(';'), forgery =>
        {
            var parts = forgery.Split('|');
            try { return Refunds.IsGenuine(parts[0], id, timestamp, parts[1], body); }
            catch (Exception) { return false; } // the secret is refused
        });
        Print("webhook.forged", forged ? "true" : "false");

        var events = Env("EVENTS").Split('\n');
        for (var index = 0; index < events.Length; index++) Print("event" + index, Describe(Refunds.ReadEvent(events[index])));
    }

    static string Describe(object read)
    {
        if (read is RefundPendingEvent refundPending) return Line("refund.pending", refundPending.Sequence, refundPending.Timestamp, OfRefund(refundPending.Data));
        if (read is RefundAuthorizedEvent refundAuthorized) return Line("refund.authorized", refundAuthorized.Sequence, refundAuthorized.Timestamp, OfRefund(refundAuthorized.Data));
        if (read is RefundTerminalFailedEvent refundTerminalFailed) return Line("refund.terminal_failed", refundTerminalFailed.Sequence, refundTerminalFailed.Timestamp, OfFailed(refundTerminalFailed.Data));
        if (read is PaymentSettledEvent paymentSettled) return Line("payment.settled", paymentSettled.Sequence, paymentSettled.Timestamp, OfPayment(paymentSettled.Data));
        if (read is PaymentFailedEvent paymentFailed) return Line("payment.failed", paymentFailed.Sequence, paymentFailed.Timestamp, OfPayment(paymentFailed.Data));
        if (read is PaymentCoveredEvent paymentCovered) return Line("payment.covered", paymentCovered.Sequence, paymentCovered.Timestamp, OfPayment(paymentCovered.Data));
        if (read is AccountLinkedEvent accountLinked) return Line("account.linked", accountLinked.Sequence, accountLinked.Timestamp, accountLinked.Data.AccountId);
        if (read is AccountUnlinkedEvent accountUnlinked) return Line("account.unlinked", accountUnlinked.Sequence, accountUnlinked.Timestamp, accountUnlinked.Data.AccountId);
        if (read is CustomerCreatedEvent customerCreated) return Line("customer.created", customerCreated.Sequence, customerCreated.Timestamp, customerCreated.Data.CustomerId);
        return "unknown";
    }

    static string OfRefund(RefundEventData data) => Words(data.PaymentId, data.PaymentStatus,
        data.ClientReferenceId ?? "null", data.OriginalPaymentId, data.Amount.Value, data.RequestKey);

    static string OfFailed(FailedRefundEventData data) => Words(data.PaymentId, data.PaymentStatus,
        data.ClientReferenceId ?? "null", data.OriginalPaymentId, data.Amount.Value, data.RequestKey, data.ErrorDetails.ErrorCode);

    static string OfPayment(PaymentEventData data) => Words(data.PaymentId, data.Status, data.Amount.Value);

    static string Line(string type, int sequence, DateTimeOffset at, string fields) =>
        Words(type, sequence, at.ToUnixTimeMilliseconds(), fields);

    static string Words(params object[] values) =>
        string.Join(" ", Array.ConvertAll(values, value => Convert.ToString(value, CultureInfo.InvariantCulture)));
}
