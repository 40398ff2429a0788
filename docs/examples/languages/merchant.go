// A merchant's program: `refund PAYMENT AMOUNT REFERENCE` issues a refund safely, `receive ID TIME SIGNATURES` takes an event from standard input.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"example.com/payments"
)

func refund(client *payments.APIClient, request payments.RefundRequest) string {
	retries := map[int]string{} // what each status means for a refund, by the contract
	text, _ := os.ReadFile("retries.json")
	json.Unmarshal(text, &retries)
	for attempt := 0; attempt < 4; attempt++ {
		refund, response, err := client.RefundsAPI.IssueRefund(context.Background()).RefundRequest(request).Execute()
		problem, _ := err.(*payments.GenericOpenAPIError)
		switch {
		case err == nil:
			return refund.PaymentStatus
		case problem == nil: // no response, or none that can be read
			response = &http.Response{}
		case response.StatusCode == http.StatusConflict && problem.Model() != nil:
			found := problem.Model().(payments.DuplicateRequestKeyProblem).Existing
			sameMoney := found.GetOriginalPaymentId() == request.PaymentId && found.GetAmount() == request.Amount
			if sameMoney && found.GetClientReferenceId() == request.GetClientReferenceId() {
				return found.GetPaymentStatus()
			}
			return "conflict"
		case retries[response.StatusCode] == "none" && strings.Contains(string(problem.Body()), "errorDetails"):
			return "none" // this alone shows that no attempt made the refund, of this run or of an earlier one
		case response.StatusCode < 500 && retries[response.StatusCode] != "again":
			return "unknown"
		}
		after, _ := time.ParseDuration(response.Header.Get("Retry-After") + "s")
		time.Sleep(after + 300*time.Millisecond<<attempt)
	}
	return "unknown"
}

func receive(secret, id, timestamp, signatures string, body []byte) int {
	key, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(secret, "whsec_"))
	sent, _ := time.ParseDuration(timestamp + "s") // since 1970
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	signed := false
	for _, given := range strings.Fields(signatures) {
		signed = signed || hmac.Equal([]byte(given), expected)
	}
	if !signed || err != nil || len(key) < 24 || time.Since(time.Unix(0, 0).Add(sent)).Abs() > 5*time.Minute {
		return 400
	}
	os.Mkdir("events", 0o700)
	file, _ := os.CreateTemp("events", ".")
	_, err = file.Write(body) // fails without a file
	if err != nil || file.Sync() != nil || os.Rename(file.Name(), "events/"+id) != nil {
		return 500
	}
	return 204 // one file for each webhook-id: a repeat changes nothing
}

func main() {
	if os.Args[1] == "receive" {
		body, _ := io.ReadAll(os.Stdin)
		fmt.Println(receive(os.Getenv("WEBHOOK_SECRET"), os.Args[2], os.Args[3], os.Args[4], body))
		return
	}
	configuration := payments.NewConfiguration()
	configuration.Servers[0].URL = os.Getenv("PAYMENTS_URL")
	configuration.AddDefaultHeader("Authorization", "Bearer "+os.Getenv("PAYMENTS_TOKEN"))
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	configuration.HTTPClient = &http.Client{Timeout: 10 * time.Second, CheckRedirect: noRedirect}
	request := payments.NewRefundRequest(os.Args[2], payments.Amount{Currency: "USD"}, os.Args[4])
	request.ClientReferenceId = &os.Args[4]
	fmt.Sscan(os.Args[3], &request.Amount.Value)
	fmt.Println(refund(payments.NewAPIClient(configuration), *request))
}
