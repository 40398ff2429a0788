// A merchant's test in Go, against the sandbox that `exec` starts.

package merchant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

type answer struct {
	PaymentStatus string
	Existing      struct{ PaymentStatus string }
}

// refund is your system: it asks with the same key until a response decides.
func refund(token string, body []byte) string {
	client := http.Client{Timeout: time.Second}
	for attempt := 0; attempt < 4; attempt++ {
		seconds := 0
		request, _ := http.NewRequest("POST", os.Getenv("REFUNDS_SANDBOX_URL")+"/v1/refunds", bytes.NewReader(body))
		request.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json"}}
		if response, err := client.Do(request); err == nil {
			var said answer
			known := json.NewDecoder(response.Body).Decode(&said) == nil
			response.Body.Close()
			if known && (response.StatusCode == 201 || response.StatusCode == 409) { // compare the three fields of a 409
				return said.PaymentStatus + said.Existing.PaymentStatus
			}
			seconds, _ = strconv.Atoi(response.Header.Get("Retry-After"))
		}
		time.Sleep(time.Duration(seconds)*time.Second + 200*time.Millisecond<<attempt)
	}
	return "unknown"
}

func TestASettledPaymentIsRefunded(t *testing.T) {
	tokens := strings.Split(os.Getenv("REFUNDS_SANDBOX_TOKENS"), ",") // a merchant for each worker
	reference := fmt.Sprintf("order-%d", time.Now().UnixNano())       // stored before the first call
	amount := map[string]any{"currency": "USD", "value": 19.99}
	body, _ := json.Marshal(map[string]any{"paymentId": "pay_settled", "amount": amount, "clientReferenceId": reference, "requestKey": reference})
	if status := refund(tokens[0], body); status != "AUTHORIZED" {
		t.Fatal(status)
	}
}
