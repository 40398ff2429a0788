using System;
using System.Globalization;
using System.IO;
using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;
using Payments;

// The whole system of a merchant, as small as it can be, for the exam. Requests are handled one after the other.
static class Exam
{
    // What this system knows about a refund; each is a file, where yours has a database.
    class Stored
    {
        public string RequestKey;
        public int Sequence;
        public string Status = "-";
    }

    public static async Task Serve()
    {
        Directory.CreateDirectory("refunds");
        var listener = new HttpListener();
        listener.Prefixes.Add("http://127.0.0.1:" + Environment.GetEnvironmentVariable("PORT") + "/");
        listener.Start();
        while (true) await Handle(await listener.GetContextAsync());
    }

    static async Task Handle(HttpListenerContext context)
    {
        var body = new StreamReader(context.Request.InputStream, new UTF8Encoding(false)).ReadToEnd();
        var text = "";
        switch (context.Request.Url.AbsolutePath)
        {
            case "/webhooks":
                context.Response.StatusCode = Receive(context.Request, body);
                break;
            case "/refund":
                await Issue(JObject.Parse(body));
                break;
            default:
                text = Read(context.Request.QueryString["reference"])?.Status ?? "";
                break;
        }
        var bytes = Encoding.UTF8.GetBytes(text);
        context.Response.ContentLength64 = bytes.Length;
        context.Response.OutputStream.Write(bytes, 0, bytes.Length);
        context.Response.Close();
    }

    static Stored Read(string reference)
    {
        var file = Path.Combine("refunds", reference);
        if (!File.Exists(file)) return null;
        var parts = File.ReadAllText(file).Split(' ');
        return new Stored { RequestKey = parts[0], Sequence = int.Parse(parts[1], CultureInfo.InvariantCulture), Status = parts[2] };
    }

    static void Write(string reference, Stored refund)
    {
        var file = Path.Combine("refunds", reference);
        File.WriteAllText(file + ".new", refund.RequestKey + " " + refund.Sequence + " " + refund.Status);
        if (File.Exists(file)) File.Replace(file + ".new", file, null);
        else File.Move(file + ".new", file);
    }

    static int Receive(HttpListenerRequest request, string body)
    {
        var secret = Environment.GetEnvironmentVariable("WEBHOOK_SECRET");
        if (!Refunds.IsGenuine(secret, Header(request, "id"), Header(request, "timestamp"), Header(request, "signature"), body)) return 400;
        var read = Refunds.ReadEvent(body);
        if (read is RefundPendingEvent pending) Store(pending.Sequence, pending.Data.ClientReferenceId, pending.Data.RequestKey, pending.Data.PaymentStatus);
        if (read is RefundAuthorizedEvent authorized) Store(authorized.Sequence, authorized.Data.ClientReferenceId, authorized.Data.RequestKey, authorized.Data.PaymentStatus);
        if (read is RefundTerminalFailedEvent failed) Store(failed.Sequence, failed.Data.ClientReferenceId, failed.Data.RequestKey, failed.Data.PaymentStatus);
        return 204;
    }

    static string Header(HttpListenerRequest request, string name) => request.Headers["webhook-" + name] ?? "";

    // Takes an event that is newer than what is known; repeats, and statuses of later versions, change nothing.
    static void Store(int sequence, string reference, string requestKey, string status)
    {
        if (Array.IndexOf(new[] { "PENDING", "AUTHORIZED", "TERMINAL_FAILED" }, status) < 0) return;
        if (sequence > (Read(reference)?.Sequence ?? 0))
            Write(reference, new Stored { RequestKey = requestKey, Sequence = sequence, Status = status });
    }

    static async Task Issue(JObject order)
    {
        var reference = (string)order["reference"];
        // If it is known, it is the same decision to refund, after a run that did not finish.
        var refund = Read(reference) ?? new Stored { RequestKey = Guid.NewGuid().ToString() };
        Write(reference, refund);
        var amount = decimal.Parse((string)order["amount"], CultureInfo.InvariantCulture);
        using (var http = Refunds.WithoutRedirects())
        {
            http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", (string)order["token"]);
            var client = new PaymentsClient(http) { BaseUrl = (string)order["url"] };
            var request = new RefundRequest { PaymentId = (string)order["paymentId"], ClientReferenceId = reference, RequestKey = refund.RequestKey };
            request.Amount = new Amount { Currency = AmountCurrency.USD, Value = (double)amount };
            try
            {
                refund.Status = await Refunds.IssueOnce(client, request) ?? "-";
                if (Read(reference).Sequence == 0) Write(reference, refund);
            }
            catch (Exception error)
            {
                Console.Error.WriteLine(error.Message); // it is run again with the stored key
            }
        }
    }
}
