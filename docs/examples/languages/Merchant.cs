using System;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Security.Cryptography;
using System.Text;
using System.Threading.Tasks;
using Payments;
// A merchant's program: `refund PAYMENT AMOUNT REFERENCE` issues a refund safely, `receive ID TIME SIGNATURES` takes an event from standard input.
static class Merchant {
    static async Task<string> Refund(PaymentsClient client, RefundRequest request) {
        var retries = Newtonsoft.Json.Linq.JObject.Parse(File.ReadAllText("retries.json")); // by the contract
        for (var attempt = 0; attempt < 4; attempt++) {
            var wait = TimeSpan.FromMilliseconds(300 << attempt);
            try {
                return (await client.IssueRefundAsync(request)).PaymentStatus.ToString();
            } catch (ApiException<DuplicateRequestKeyProblem> error) {
                var found = error.Result.Existing;
                var sameMoney = found.OriginalPaymentId == request.PaymentId && found.Amount.Value == request.Amount.Value;
                return sameMoney && found.ClientReferenceId == request.ClientReferenceId ? found.PaymentStatus.ToString() : "conflict";
            } catch (ApiException error) {
                var result = (string)retries[error.StatusCode.ToString()];
                // This alone shows that no attempt made the refund, of this run or of an earlier one.
                if (result == "none" && error.GetType().IsGenericType) return "none";
                if (error.StatusCode >= 300 && error.StatusCode < 500 && result != "again") return "unknown";
                if (error.Headers.TryGetValue("Retry-After", out var after)) wait += TimeSpan.FromSeconds(int.Parse(after.First()));
            } catch (Exception) { } // no response, or none that can be read
            await Task.Delay(wait);
        }
        return "unknown";
    }

    static int Receive(string id, string timestamp, string signatures, byte[] body) {
        var key = Convert.FromBase64String(Environment.GetEnvironmentVariable("WEBHOOK_SECRET").Replace("whsec_", ""));
        if (key.Length < 24 || !long.TryParse(timestamp, out var sent) || Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - sent) > 300) return 400;
        var digest = new HMACSHA256(key).ComputeHash(Encoding.UTF8.GetBytes(id + "." + timestamp + ".").Concat(body).ToArray());
        var expected = Encoding.UTF8.GetBytes("v1," + Convert.ToBase64String(digest));
        if (!signatures.Split(' ').Any(one => CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(one), expected))) return 400;
        var half = Path.Combine(Directory.CreateDirectory("events").Name, "." + Guid.NewGuid());
        using (var file = new FileStream(half, FileMode.CreateNew)) {
            file.Write(body, 0, body.Length);
            file.Flush(true);
        }
        if (File.Exists("events/" + id)) File.Delete(half); // a repeat
        else File.Move(half, "events/" + id);
        return 204;
    }

    static void Main(string[] given) {
        if (given[0] == "receive") {
            Console.WriteLine(Receive(given[1], given[2], given[3], new BinaryReader(Console.OpenStandardInput()).ReadBytes(1 << 20)));
            return;
        }
        var http = new HttpClient(new HttpClientHandler { AllowAutoRedirect = false }) { Timeout = TimeSpan.FromSeconds(10) };
        http.DefaultRequestHeaders.Authorization = new System.Net.Http.Headers.AuthenticationHeaderValue("Bearer", Environment.GetEnvironmentVariable("PAYMENTS_TOKEN"));
        var amount = new Amount { Currency = AmountCurrency.USD, Value = double.Parse(given[2], System.Globalization.CultureInfo.InvariantCulture) };
        var request = new RefundRequest { PaymentId = given[1], Amount = amount, ClientReferenceId = given[3], RequestKey = given[3] };
        Console.WriteLine(Refund(new PaymentsClient(http) { BaseUrl = Environment.GetEnvironmentVariable("PAYMENTS_URL") }, request).Result);
    }
}
