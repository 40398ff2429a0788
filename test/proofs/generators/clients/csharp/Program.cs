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

    static void Main() => Run().GetAwaiter().GetResult();

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
    }
}
