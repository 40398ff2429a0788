package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	payments "example.com/payments"
)

func refund(ctx context.Context, client *payments.APIClient, paymentID, amount, requestKey string) (*payments.Refund, error) {
	value, err := strconv.ParseFloat(amount, 64) // exact up to the highest amount, and printed as it was read
	if err != nil {
		return nil, err
	}
	request := payments.NewRefundRequest(paymentID, *payments.NewAmount("USD", value), requestKey)
	response, _, err := client.RefundsAPI.IssueRefund(ctx).RefundRequest(*request).Execute()
	return response, err
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
