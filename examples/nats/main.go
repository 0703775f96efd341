// Command nats follows the changes of a catalogue and stores each of them once in a stream of NATS JetStream.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// errGone means that the log no longer has the changes after a position.
var errGone = errors.New("the position is gone: copy the catalogue again, and purge the stream")

func main() {
	conn, err := nats.Connect(cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL))
	if err != nil {
		log.Fatal(err)
	}
	for {
		err := follow(context.Background(), conn, cmp.Or(os.Getenv("CATALOGUE_URL"), "http://localhost:8080"))
		if errors.Is(err, errGone) {
			log.Fatal(err)
		}
		log.Print("connecting again: ", err)
		time.Sleep(time.Second)
	}
}

// follow publishes the changes after the last one in the stream. The message id of a change is its position.
func follow(ctx context.Context, conn *nats.Conn, catalogue string) error {
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	stream, err := js.CreateOrUpdateStream(ctx,
		jetstream.StreamConfig{Name: "CATALOGUE", Subjects: []string{"catalogue.>"}})
	if err != nil {
		return err
	}
	last, position, data, address := "", "", "", catalogue+"/api/changes"
	if message, err := stream.GetLastMsgForSubject(ctx, "catalogue.>"); err == nil {
		last = message.Header.Get(jetstream.MsgIDHeader)
		address += "?after=" + url.QueryEscape(last)
	} else if !errors.Is(err, jetstream.ErrMsgNotFound) {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusGone {
		return errGone
	} else if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	lines := bufio.NewScanner(response.Body)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
		case "id":
			position = value
		case "data":
			data = value
		case "": // the end of an event, or a comment
			if position != "" && (data != "" || last == "") { // an empty stream begins with its position
				if err := publish(ctx, js, position, data, last); err != nil {
					return err
				}
				last = position
			}
			position, data = "", ""
		}
	}
	return cmp.Or(lines.Err(), errors.New("the event stream ended"))
}

// publish stores a change right after the last one. Another publisher of the same stream is an error.
func publish(ctx context.Context, js jetstream.JetStream, position, data, last string) error {
	change := struct{ Type string }{"start"}
	if err := json.Unmarshal([]byte(data), &change); data != "" && err != nil {
		return fmt.Errorf("the change %s: %w", position, err)
	}
	_, err := js.Publish(ctx, "catalogue."+change.Type, []byte(data), jetstream.WithMsgID(position),
		jetstream.WithExpectLastMsgID(last))
	return err
}
