package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	payments "example.com/payments"
)

// stored is what this system knows about a refund; each is a file, where yours has a database.
type stored struct {
	RequestKey string
	Sequence   int32
	Status     string
}

var lock sync.Mutex

func read(reference string) (refund stored, found bool) {
	text, err := os.ReadFile(filepath.Join("refunds", reference))
	return refund, err == nil && json.Unmarshal(text, &refund) == nil
}

func write(reference string, refund stored) {
	text, _ := json.Marshal(refund)
	path := filepath.Join("refunds", reference)
	must(os.WriteFile(path+".new", text, 0o600))
	must(os.Rename(path+".new", path))
}

// serve is the whole system of a merchant, as small as it can be, for the exam.
func serve() {
	must(os.MkdirAll("refunds", 0o700))
	http.HandleFunc("/webhooks", receive)
	http.HandleFunc("/refund", issue)
	http.HandleFunc("/state", func(w http.ResponseWriter, r *http.Request) {
		refund, _ := read(r.URL.Query().Get("reference"))
		io.WriteString(w, refund.Status)
	})
	must(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}

func receive(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	header := r.Header.Get
	secret := os.Getenv("WEBHOOK_SECRET")
	if !isGenuine(secret, header("webhook-id"), header("webhook-timestamp"), header("webhook-signature"), body) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	event, err := readEvent(body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	switch e := event.(type) {
	case *payments.RefundPendingEvent:
		store(e.Sequence, e.Data)
	case *payments.RefundAuthorizedEvent:
		store(e.Sequence, e.Data)
	case *payments.RefundTerminalFailedEvent:
		d := e.Data
		store(e.Sequence, payments.RefundEventData{ClientReferenceId: d.ClientReferenceId, PaymentStatus: d.PaymentStatus, RequestKey: d.RequestKey})
	}
	w.WriteHeader(http.StatusNoContent)
}

// store takes an event that is newer than what is known; repeats, and statuses of later versions, change nothing.
func store(sequence int32, data payments.RefundEventData) {
	if data.PaymentStatus != "PENDING" && data.PaymentStatus != "AUTHORIZED" && data.PaymentStatus != "TERMINAL_FAILED" {
		return
	}
	lock.Lock()
	defer lock.Unlock()
	reference := orNull(data.ClientReferenceId)
	if known, _ := read(reference); sequence > known.Sequence {
		write(reference, stored{data.RequestKey, sequence, data.PaymentStatus})
	}
}

func newRequestKey() string {
	bytes := make([]byte, 16)
	_, err := rand.Read(bytes)
	must(err)
	return hex.EncodeToString(bytes)
}

func issue(w http.ResponseWriter, r *http.Request) {
	var order struct{ URL, Token, PaymentID, Amount, Reference string }
	must(json.NewDecoder(r.Body).Decode(&order))
	refund, found := read(order.Reference)
	if !found { // otherwise it is the same decision to refund, after a run that did not finish
		refund = stored{RequestKey: newRequestKey()}
		write(order.Reference, refund)
	}
	value, err := strconv.ParseFloat(order.Amount, 64)
	must(err)
	request := payments.NewRefundRequest(order.PaymentID, *payments.NewAmount("USD", value), refund.RequestKey)
	request.SetClientReferenceId(order.Reference)
	configuration := payments.NewConfiguration()
	configuration.Servers = payments.ServerConfigurations{{URL: order.URL}}
	configuration.HTTPClient = withoutRedirects
	ctx := context.WithValue(context.Background(), payments.ContextAccessToken, order.Token)
	status, err := refundOnce(ctx, payments.NewAPIClient(configuration), *request)
	lock.Lock()
	defer lock.Unlock()
	if known, _ := read(order.Reference); err == nil && known.Sequence == 0 {
		write(order.Reference, stored{refund.RequestKey, 0, status})
	}
}
