package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	payments "example.com/payments"
)

// The service never redirects, and Go would follow with the whole request.
var withoutRedirects = &http.Client{
	Timeout:       10 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func refund(ctx context.Context, client *payments.APIClient, paymentID, amount, requestKey string) (*payments.Refund, error) {
	value, err := strconv.ParseFloat(amount, 64) // exact up to the highest amount, and printed as it was read
	if err != nil {
		return nil, err
	}
	request := payments.NewRefundRequest(paymentID, *payments.NewAmount("USD", value), requestKey)
	response, _, err := client.RefundsAPI.IssueRefund(ctx).RefundRequest(*request).Execute()
	return response, err
}

// refundOnce repeats a call whose outcome is unknown, always with the same requestKey, and returns the status of the refund.
// It is "" when no refund was made. After an error, repeat it later with the same requestKey.
func refundOnce(ctx context.Context, client *payments.APIClient, request payments.RefundRequest) (string, error) {
	for attempt := 0; ; attempt++ {
		refund, response, err := client.RefundsAPI.IssueRefund(ctx).RefundRequest(request).Execute()
		if err == nil {
			return refund.PaymentStatus, nil
		}
		wait := 300 * time.Millisecond << attempt
		if response != nil && response.StatusCode >= 300 && response.StatusCode < 500 && response.StatusCode != 429 {
			return existingStatus(request, err), nil
		}
		if attempt == 3 {
			return "", err
		}
		if response != nil {
			seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
			wait += time.Duration(seconds) * time.Second
		}
		time.Sleep(wait)
	}
}

// existingStatus is that of the refund that has the requestKey, if it is the one that was requested.
func existingStatus(request payments.RefundRequest, err error) string {
	problem, _ := err.(*payments.GenericOpenAPIError)
	if problem == nil {
		return ""
	}
	duplicate, ok := problem.Model().(payments.DuplicateRequestKeyProblem)
	if !ok || duplicate.Existing.GetOriginalPaymentId() != request.PaymentId || duplicate.Existing.GetAmount() != request.Amount {
		return ""
	}
	return duplicate.Existing.GetPaymentStatus()
}

func isGenuine(secret, id, timestamp, signatures string, body []byte) bool {
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-sent)) > 300 {
		return false
	}
	key, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) < 24 { // a key that others could guess proves nothing
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Fields(signatures) {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return true
		}
	}
	return false
}

// readEvent decodes an event into its own type. It returns nil for an event that is newer than this client.
func readEvent(body []byte) (any, error) {
	var head struct{ Type string }
	if err := json.Unmarshal(body, &head); err != nil {
		return nil, err
	}
	event := map[string]any{
		"refund.pending":         &payments.RefundPendingEvent{},
		"refund.authorized":      &payments.RefundAuthorizedEvent{},
		"refund.terminal_failed": &payments.RefundTerminalFailedEvent{},
		"payment.settled":        &payments.PaymentSettledEvent{},
		"payment.failed":         &payments.PaymentFailedEvent{},
		"payment.covered":        &payments.PaymentCoveredEvent{},
		"account.linked":         &payments.AccountLinkedEvent{},
		"account.unlinked":       &payments.AccountUnlinkedEvent{},
		"customer.created":       &payments.CustomerCreatedEvent{},
	}[head.Type]
	if event == nil {
		return nil, nil
	}
	return event, json.Unmarshal(body, event)
}
