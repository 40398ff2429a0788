import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigDecimal;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.RefundsApi;
import org.openapitools.client.api.WebhooksApi;
import org.openapitools.client.model.*;

public final class Main {
  interface Call {
    void run() throws ApiException;
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, String> env = System.getenv();
    ApiClient client = new ApiClient();
    client.updateBaseUri(env.get("PAYMENTS_URL"));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + env.get("ACCESS_TOKEN")));
    RefundsApi refunds = new RefundsApi(client);
    String run = env.get("RUN");

    int index = 0;
    for (String entry : env.get("REFUNDS").split(",")) {
      String[] parts = entry.split("=");
      Refund refund = Refunds.refund(refunds, parts[0], new BigDecimal(parts[1]), run + "-exact" + index);
      print("exact" + index + ".status", refund.getPaymentStatus());
      print("exact" + index + ".paymentId", refund.getPaymentId());
      print("exact" + index + ".reference", refund.getClientReferenceId());
      index += 1;
    }
    String last = run + "-exact" + (index - 1);

    Amount price = new Amount().currency(Amount.CurrencyEnum.USD).value(9.99);
    RefundRequest recent = new RefundRequest().paymentId("pay_recent").amount(price);
    Refund pending = refunds.issueRefund(recent.requestKey(run + "-pending").clientReferenceId("order-1042"));
    print("pending.status", pending.getPaymentStatus());
    print("pending.reference", pending.getClientReferenceId());

    RefundRequest unpaid = new RefundRequest().paymentId("pay_failed").amount(price).requestKey(run + "-failed");
    Refund failed = refunds.issueRefund(unpaid.clientRefefenceId("order-1043"));
    print("failed.status", failed.getPaymentStatus());
    print("failed.errorCode", failed.getErrorDetails().getErrorCode());
    print("failed.reference", failed.getClientReferenceId());

    // The exception has the body as text: the generated model reads it.
    ObjectMapper json = client.getObjectMapper();
    RefundRequest digits = new RefundRequest().paymentId("pay_recent").requestKey(run + "-invalid");
    digits.amount(new Amount().currency(Amount.CurrencyEnum.USD).value(19.999));
    ApiException refused = caught(() -> refunds.issueRefund(digits));
    InvalidRequestProblem invalid = json.readValue(refused.getResponseBody(), InvalidRequestProblem.class);
    print("invalid.status", refused.getCode());
    print("invalid.pointer", invalid.getViolations().get(0).getPointer());

    ApiException again = caught(() -> Refunds.refund(refunds, "pay_recent", new BigDecimal("9.99"), last));
    DuplicateRequestKeyProblem duplicate = json.readValue(again.getResponseBody(), DuplicateRequestKeyProblem.class);
    print("duplicate.status", again.getCode());
    print("duplicate.errorCode", duplicate.getErrorDetails().getErrorCode());
    print("duplicate.existing", duplicate.getExisting().getPaymentId());
    print("duplicate.amount", duplicate.getExisting().getAmount().getValue());

    String secret = env.get("WEBHOOK_SECRET");
    Map<String, SubscriptionDetails> kinds = new LinkedHashMap<>();
    EventSubscription event = new EventSubscription().type(EventSubscription.TypeEnum.EVENT);
    kinds.put("event", new SubscriptionDetails(event.details(List.of(EventName.REFUND_AUTHORIZED))));
    CategorySubscription category = new CategorySubscription().type(CategorySubscription.TypeEnum.CATEGORY);
    kinds.put("category", new SubscriptionDetails(category.details(List.of(EventCategory.PAYMENT))));
    kinds.put("all", new SubscriptionDetails(new AllSubscription().type(AllSubscription.TypeEnum.ALL)));
    for (Map.Entry<String, SubscriptionDetails> kind : kinds.entrySet()) {
      SubscriptionRequest request = new SubscriptionRequest().secretKey(secret);
      request.url(java.net.URI.create("http://127.0.0.1:9/hooks")).subscriptionDetails(kind.getValue());
      Subscription subscription = new WebhooksApi(client).subscribeToWebhooks(request);
      print("subscription." + kind.getKey(), subscription.getSubscriptionKey());
    }

    String id = env.get("WEBHOOK_ID");
    String body = env.get("WEBHOOK_BODY");
    String timestamp = env.get("WEBHOOK_TIMESTAMP");
    String signature = env.get("WEBHOOK_SIGNATURE");
    print("webhook.genuine", Refunds.isGenuine(secret, id, timestamp, signature, body));
    print("webhook.altered", Refunds.isGenuine(secret, id, timestamp, signature, body + " "));
    print("webhook.old", Refunds.isGenuine(secret, id, env.get("OLD_TIMESTAMP"), env.get("OLD_SIGNATURE"), body));
    boolean forged = false;
    for (String forgery : env.get("FORGERIES").split(";")) {
      String[] parts = forgery.split("\\|");
      try {
        forged |= Refunds.isGenuine(parts[0], id, timestamp, parts[1], body);
      } catch (IllegalArgumentException weak) {
        // The secret is refused.
      }
    }
    print("webhook.forged", forged);

    String[] events = env.get("EVENTS").split("\n");
    for (int at = 0; at < events.length; at += 1) print("event" + at, describe(Refunds.readEvent(json, events[at])));
  }

  private static String describe(Object event) {
    if (event instanceof RefundPendingEvent e) return line(e.getType(), e.getSequence(), e.getTimestamp(), ofRefund(e.getData()));
    if (event instanceof RefundAuthorizedEvent e) return line(e.getType(), e.getSequence(), e.getTimestamp(), ofRefund(e.getData()));
    if (event instanceof RefundTerminalFailedEvent e) return line(e.getType(), e.getSequence(), e.getTimestamp(), ofFailed(e.getData()));
    if (event instanceof PaymentSettledEvent e) return line(e.getType(), e.getSequence(), e.getTimestamp(), ofPayment(e.getData()));
    if (event instanceof PaymentFailedEvent e) return line(e.getType(), e.getSequence(), e.getTimestamp(), ofPayment(e.getData()));
    if (event instanceof PaymentCoveredEvent e) return line(e.getType(), e.getSequence(), e.getTimestamp(), ofPayment(e.getData()));
    if (event instanceof AccountLinkedEvent e) return line(e.getType(), e.getSequence(), e.getTimestamp(), e.getData().getAccountId());
    if (event instanceof AccountUnlinkedEvent e) return line(e.getType(), e.getSequence(), e.getTimestamp(), e.getData().getAccountId());
    if (event instanceof CustomerCreatedEvent e) return line(e.getType(), e.getSequence(), e.getTimestamp(), e.getData().getCustomerId());
    return "unknown";
  }

  private static String ofRefund(RefundEventData data) {
    return words(data.getPaymentId(), data.getPaymentStatus(), data.getClientReferenceId(), data.getOriginalPaymentId(), data.getAmount().getValue(), data.getRequestKey());
  }

  private static String ofFailed(FailedRefundEventData data) {
    return words(data.getPaymentId(), data.getPaymentStatus(), data.getClientReferenceId(), data.getOriginalPaymentId(), data.getAmount().getValue(), data.getRequestKey(), data.getErrorDetails().getErrorCode());
  }

  private static String ofPayment(PaymentEventData data) {
    return words(data.getPaymentId(), data.getStatus(), data.getAmount().getValue());
  }

  private static String line(Object type, Integer sequence, OffsetDateTime at, String fields) {
    return words(type, sequence, at.toInstant().toEpochMilli(), fields);
  }

  private static String words(Object... values) {
    return Stream.of(values).map(String::valueOf).collect(Collectors.joining(" "));
  }

  private static ApiException caught(Call call) {
    try {
      call.run();
    } catch (ApiException error) {
      return error;
    }
    throw new IllegalStateException("the call was not refused");
  }

  private static void print(String name, Object value) {
    System.out.println(name + "=" + value);
  }
}
