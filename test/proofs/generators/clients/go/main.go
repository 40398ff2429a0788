package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	payments "example.com/payments"
)

func main() {
	if len(os.Args) > 1 {
		serve()
	}
	configuration := payments.NewConfiguration()
	configuration.Servers = payments.ServerConfigurations{{URL: os.Getenv("PAYMENTS_URL")}}
	client := payments.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), payments.ContextAccessToken, os.Getenv("ACCESS_TOKEN"))
	run := os.Getenv("RUN")

	var last string
	for index, entry := range strings.Split(os.Getenv("REFUNDS"), ",") {
		paymentID, amount, _ := strings.Cut(entry, "=")
		last = fmt.Sprintf("%s-exact%d", run, index)
		response, err := refund(ctx, client, paymentID, amount, last)
		must(err)
		fmt.Printf("exact%d.status=%s\nexact%d.paymentId=%s\n", index, response.PaymentStatus, index, response.PaymentId)
		fmt.Printf("exact%d.reference=%s\n", index, orNull(response.ClientReferenceId))
	}

	pending := payments.NewRefundRequest("pay_recent", *payments.NewAmount("USD", 9.99), run+"-pending")
	pending.SetClientReferenceId("order-1042")
	response, _, err := client.RefundsAPI.IssueRefund(ctx).RefundRequest(*pending).Execute()
	must(err)
	fmt.Printf("pending.status=%s\npending.reference=%s\n", response.PaymentStatus, response.GetClientReferenceId())

	failed := payments.NewRefundRequest("pay_failed", *payments.NewAmount("USD", 9.99), run+"-failed")
	failed.SetClientRefefenceId("order-1043")
	response, _, err = client.RefundsAPI.IssueRefund(ctx).RefundRequest(*failed).Execute()
	must(err)
	fmt.Printf("failed.status=%s\nfailed.errorCode=%s\n", response.PaymentStatus, response.ErrorDetails.ErrorCode)
	fmt.Printf("failed.reference=%s\n", response.GetClientReferenceId())

	var problem *payments.GenericOpenAPIError
	_, err = refund(ctx, client, "pay_recent", "19.999", run+"-invalid")
	if errors.As(err, &problem) {
		invalid := problem.Model().(payments.InvalidRequestProblem)
		fmt.Printf("invalid.status=%v\ninvalid.pointer=%s\n", invalid.Status, invalid.Violations[0].Pointer)
	}
	_, err = refund(ctx, client, "pay_recent", "9.99", last)
	if errors.As(err, &problem) {
		duplicate := problem.Model().(payments.DuplicateRequestKeyProblem)
		fmt.Printf("duplicate.status=%v\nduplicate.errorCode=%s\n", duplicate.Status, duplicate.ErrorDetails.ErrorCode)
		fmt.Printf("duplicate.existing=%s\n", duplicate.Existing.PaymentId)
		fmt.Printf("duplicate.amount=%.2f\n", duplicate.Existing.Amount.Value)
	}

	event := payments.NewEventSubscription("EVENT", []payments.EventName{"refund.authorized"})
	category := payments.NewCategorySubscription("CATEGORY", []payments.EventCategory{"PAYMENT"})
	for name, details := range map[string]payments.SubscriptionDetails{
		"event":    payments.EventSubscriptionAsSubscriptionDetails(event),
		"category": payments.CategorySubscriptionAsSubscriptionDetails(category),
		"all":      payments.AllSubscriptionAsSubscriptionDetails(payments.NewAllSubscription("ALL")),
	} {
		request := payments.NewSubscriptionRequest("http://127.0.0.1:9/hooks", os.Getenv("WEBHOOK_SECRET"), details)
		subscription, _, err := client.WebhooksAPI.SubscribeToWebhooks(ctx).SubscriptionRequest(*request).Execute()
		must(err)
		fmt.Printf("subscription.%s=%s\n", name, subscription.SubscriptionKey)
	}

	secret, id, body := os.Getenv("WEBHOOK_SECRET"), os.Getenv("WEBHOOK_ID"), os.Getenv("WEBHOOK_BODY")
	timestamp, signature := os.Getenv("WEBHOOK_TIMESTAMP"), os.Getenv("WEBHOOK_SIGNATURE")
	fmt.Printf("webhook.genuine=%t\n", isGenuine(secret, id, timestamp, signature, []byte(body)))
	fmt.Printf("webhook.altered=%t\n", isGenuine(secret, id, timestamp, signature, []byte(body+" ")))
	old, oldSignature := os.Getenv("OLD_TIMESTAMP"), os.Getenv("OLD_SIGNATURE")
	fmt.Printf("webhook.old=%t\n", isGenuine(secret, id, old, oldSignature, []byte(body)))
	forged := false
	for _, forgery := range strings.Split(os.Getenv("FORGERIES"), ";") {
		weak, signature, _ := strings.Cut(forgery, "|")
		forged = forged || isGenuine(weak, id, timestamp, signature, []byte(body))
	}
	fmt.Printf("webhook.forged=%t\n", forged)

	for index, body := range strings.Split(os.Getenv("EVENTS"), "\n") {
		event, err := readEvent([]byte(body))
		must(err)
		fmt.Printf("event%d=%s", index, describe(event))
	}
}

func describe(event any) string {
	switch e := event.(type) {
	case *payments.RefundPendingEvent:
		return line(e.Type, e.Sequence, e.Timestamp, ofRefund(e.Data)...)
	case *payments.RefundAuthorizedEvent:
		return line(e.Type, e.Sequence, e.Timestamp, ofRefund(e.Data)...)
	case *payments.RefundTerminalFailedEvent:
		d := e.Data
		return line(e.Type, e.Sequence, e.Timestamp, d.PaymentId, d.PaymentStatus, orNull(d.ClientReferenceId),
			d.OriginalPaymentId, d.Amount.Value, d.RequestKey, d.ErrorDetails.ErrorCode)
	case *payments.PaymentSettledEvent:
		return line(e.Type, e.Sequence, e.Timestamp, e.Data.PaymentId, e.Data.Status, e.Data.Amount.Value)
	case *payments.PaymentFailedEvent:
		return line(e.Type, e.Sequence, e.Timestamp, e.Data.PaymentId, e.Data.Status, e.Data.Amount.Value)
	case *payments.PaymentCoveredEvent:
		return line(e.Type, e.Sequence, e.Timestamp, e.Data.PaymentId, e.Data.Status, e.Data.Amount.Value)
	case *payments.AccountLinkedEvent:
		return line(e.Type, e.Sequence, e.Timestamp, e.Data.AccountId)
	case *payments.AccountUnlinkedEvent:
		return line(e.Type, e.Sequence, e.Timestamp, e.Data.AccountId)
	case *payments.CustomerCreatedEvent:
		return line(e.Type, e.Sequence, e.Timestamp, e.Data.CustomerId)
	}
	return "unknown\n"
}

func ofRefund(d payments.RefundEventData) []any {
	return []any{d.PaymentId, d.PaymentStatus, orNull(d.ClientReferenceId), d.OriginalPaymentId, d.Amount.Value, d.RequestKey}
}

func line(kind string, sequence int32, at time.Time, fields ...any) string {
	return fmt.Sprintln(append([]any{kind, sequence, at.UnixMilli()}, fields...)...)
}

func orNull(reference payments.NullableString) string {
	if value := reference.Get(); value != nil {
		return *value
	}
	return "null"
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
