package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestOnce follows a catalogue whose streams break after few changes. Each change is in the stream once and in order,
// also while a second publisher runs.
func TestOnce(t *testing.T) {
	t.Parallel()
	broker, err := server.NewServer(
		&server.Options{Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	broker.Start()
	defer broker.Shutdown()
	if !broker.ReadyForConnections(time.Minute) {
		t.Fatal("the broker does not start")
	}
	conn, err := nats.Connect(broker.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	const changes = 200
	catalogue := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("after") == "gone" {
			w.WriteHeader(http.StatusGone)
			return
		}
		after, _ := strconv.Atoi(r.URL.Query().Get("after"))
		fmt.Fprintf(w, ": hello\n\nid: %d\n\n", after) // where it begins
		for i := after + 1; i <= min(after+7, changes); i++ {
			fmt.Fprintf(w, "id: %d\ndata: {\"position\":\"%[1]d\",\"type\":\"book\"}\n\n", i)
		}
		fmt.Fprint(w, "id: 9999\nda") // it breaks
	}))
	defer catalogue.Close()

	ended := make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			_ = follow(ctx, conn, catalogue.URL)
		}
	}()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	for {
		_ = follow(t.Context(), conn, catalogue.URL)
		if stream, err := js.Stream(t.Context(), "CATALOGUE"); err == nil && stream.CachedInfo().State.Msgs > changes {
			break
		}
	}
	stop()
	<-ended
	stream, err := js.Stream(t.Context(), "CATALOGUE")
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Msgs; n != changes+1 {
		t.Errorf("%d messages, want the start and %d changes", n, changes)
	}
	for i := range changes + 1 {
		message, err := stream.GetMsg(t.Context(), uint64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		if id := message.Header.Get(jetstream.MsgIDHeader); id != strconv.Itoa(i) {
			t.Errorf("message %d is the change %s", i+1, id)
		}
	}
	if err := publish(t.Context(), js, "other", "", "5"); err == nil {
		t.Error("a publisher that is behind stores a change")
	}
	if _, err := js.Publish(t.Context(), "catalogue.book", nil, jetstream.WithMsgID("gone")); err != nil {
		t.Fatal(err)
	}
	if err := follow(t.Context(), conn, catalogue.URL); !errors.Is(err, errGone) {
		t.Errorf("the error is %v", err)
	}
}
