using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Net.Http;
using System.Security.Cryptography;
using System.Text;
using System.Threading.Tasks;
using Newtonsoft.Json;
using Newtonsoft.Json.Converters;
using Newtonsoft.Json.Linq;
using Payments;

static class Refunds
{
    public static Task<Refund> Issue(PaymentsClient client, string paymentId, decimal amount, string requestKey)
    {
        // Count in decimal, and convert last: a double prints every amount of the contract as it was written.
        var value = new Amount { Currency = AmountCurrency.USD, Value = (double)amount };
        return client.IssueRefundAsync(new RefundRequest { PaymentId = paymentId, Amount = value, RequestKey = requestKey });
    }

    // The service never redirects, and HttpClient would follow with the whole request.
    public static HttpClient WithoutRedirects() =>
        new HttpClient(new HttpClientHandler { AllowAutoRedirect = false }) { Timeout = TimeSpan.FromSeconds(10) };

    // Repeats a call whose outcome is unknown, always with the same requestKey. Returns the status of the refund, or null if none
    // was made. After an exception, repeat it later with the same requestKey.
    public static async Task<string> IssueOnce(PaymentsClient client, RefundRequest request)
    {
        for (var attempt = 0; ; attempt++)
        {
            var wait = TimeSpan.FromMilliseconds(300 << attempt);
            try
            {
                return StatusName((await client.IssueRefundAsync(request)).PaymentStatus);
            }
            catch (ApiException<DuplicateRequestKeyProblem> error)
            {
                var existing = error.Result.Existing;
                var isOurs = existing.OriginalPaymentId == request.PaymentId && existing.Amount.Value == request.Amount.Value;
                return isOurs ? StatusName(existing.PaymentStatus) : null;
            }
            catch (ApiException error)
            {
                if (error.StatusCode >= 300 && error.StatusCode < 500 && error.StatusCode != 429) return null;
                if (attempt == 3) throw;
                if (error.Headers != null && error.Headers.TryGetValue("Retry-After", out var after))
                    wait += TimeSpan.FromSeconds(int.Parse(after.First(), CultureInfo.InvariantCulture));
            }
            catch (Exception) when (attempt < 3)
            {
                // No response, or none that can be read.
            }
            await Task.Delay(wait);
        }
    }

    static string StatusName(object status) => JsonConvert.SerializeObject(status, new StringEnumConverter()).Trim('"');

    public static bool IsGenuine(string secret, string id, string timestamp, string signatures, string body)
    {
        if (!long.TryParse(timestamp, NumberStyles.None, CultureInfo.InvariantCulture, out var sent)) return false;
        if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - sent) > 300) return false;
        if (!secret.StartsWith("whsec_", StringComparison.Ordinal)) throw new ArgumentException("the secret lacks whsec_");
        var key = Convert.FromBase64String(secret.Substring("whsec_".Length)); // throws if it isn't base64
        if (key.Length < 24) throw new ArgumentException("the secret is so short that others could guess it");
        using (var hmac = new HMACSHA256(key))
        {
            var digest = hmac.ComputeHash(Encoding.UTF8.GetBytes(id + "." + timestamp + "." + body));
            var expected = "v1," + Convert.ToBase64String(digest);
            return Array.Exists(signatures.Split(' '), signature => Same(signature, expected));
        }
    }

    // In constant time; from .NET Core 2.1 on it is CryptographicOperations.FixedTimeEquals.
    static bool Same(string given, string expected)
    {
        var difference = given.Length ^ expected.Length;
        for (var index = 0; index < given.Length && index < expected.Length; index++) difference |= given[index] ^ expected[index];
        return difference == 0;
    }

    static readonly Dictionary<string, Type> Events = new Dictionary<string, Type>
    {
        ["refund.pending"] = typeof(RefundPendingEvent),
        ["refund.authorized"] = typeof(RefundAuthorizedEvent),
        ["refund.terminal_failed"] = typeof(RefundTerminalFailedEvent),
        ["payment.settled"] = typeof(PaymentSettledEvent),
        ["payment.failed"] = typeof(PaymentFailedEvent),
        ["payment.covered"] = typeof(PaymentCoveredEvent),
        ["account.linked"] = typeof(AccountLinkedEvent),
        ["account.unlinked"] = typeof(AccountUnlinkedEvent),
        ["customer.created"] = typeof(CustomerCreatedEvent),
    };

    // The event as an object of its own class, or null if it is newer than this client.
    public static object ReadEvent(string body)
    {
        var type = (string)JObject.Parse(body)["type"];
        return Events.TryGetValue(type, out var known) ? JsonConvert.DeserializeObject(body, known) : null;
    }
}
