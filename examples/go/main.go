// Command go is a client of the catalogue that needs net/http alone.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log"
	"net/http"
	"os"
)

// Book is what this client asks of a book.
type Book struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
	Name    string `json:"name"`
	Pages   int    `json:"pages"`
	Price   string `json:"price"` // two decimals, exact
	Genre   struct {
		Name     string `json:"name"`
		Category struct {
			Name string `json:"name"`
		} `json:"category"`
	} `json:"genre"`
}

// Patch has the new values of a book; what is left out stays.
type Patch struct {
	Pages *int    `json:"pages,omitempty"`
	Price *string `json:"price,omitempty"`
}

// Apply returns the book with the new values.
func (p Patch) Apply(b Book) Book {
	if p.Pages != nil {
		b.Pages = *p.Pages
	}
	if p.Price != nil {
		b.Price = *p.Price
	}
	return b
}

// Error is an error of the service.
type Error struct {
	Message    string `json:"message"`
	Extensions struct {
		Code string `json:"code"`
	} `json:"extensions"`
}

func (e *Error) Error() string { return e.Message }

// Client asks the service at URL.
type Client struct {
	URL, Token string // writes need a token
}

// Ask puts the data of the answer into data.
func (c *Client) Ask(ctx context.Context, query string, variables map[string]any, data any) error {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/graphql", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+c.Token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct {
		Data   any      `json:"data"`
		Errors []*Error `json:"errors"`
	}
	answer.Data = data
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return fmt.Errorf("%s: %w", response.Status, err)
	}
	if len(answer.Errors) > 0 {
		return answer.Errors[0]
	}
	return nil
}

// FirstBooks returns books with their genres and categories, by one request.
func (c *Client) FirstBooks(ctx context.Context) ([]Book, error) {
	var data struct{ Books struct{ Nodes []Book } }
	err := c.Ask(ctx, `{ books(first: 3) { nodes { name genre { name category { name } } } } }`, nil, &data)
	return data.Books.Nodes, err
}

// AllBooks returns every book, page by page.
func (c *Client) AllBooks(ctx context.Context) iter.Seq2[Book, error] {
	return func(yield func(Book, error) bool) {
		for after := (*string)(nil); ; {
			var data struct {
				Books struct {
					Nodes    []Book
					PageInfo struct {
						HasNextPage bool
						EndCursor   *string
					}
				}
			}
			err := c.Ask(ctx, `query ($after: String) {
				books(first: 200, after: $after) { nodes { id name } pageInfo { hasNextPage endCursor } }
			}`, map[string]any{"after": after}, &data)
			if err != nil {
				yield(Book{}, err)
				return
			}
			for _, book := range data.Books.Nodes {
				if !yield(book, nil) {
					return
				}
			}
			if !data.Books.PageInfo.HasNextPage {
				return
			}
			after = data.Books.PageInfo.EndCursor
		}
	}
}

// Book reads a book.
func (c *Client) Book(ctx context.Context, id string) (Book, error) {
	var data struct{ Book *Book }
	err := c.Ask(ctx, `query ($id: ID!) { book(id: $id) { id version name pages price } }`, map[string]any{"id": id},
		&data)
	if err == nil && data.Book == nil {
		err = fmt.Errorf("there is no book %s", id)
	}
	if err != nil {
		return Book{}, err
	}
	return *data.Book, nil
}

// Change changes a book that was read before, and shows the change at once. It keeps a concurrent change of
// other fields, and returns an error for a concurrent change of the same field.
func (c *Client) Change(ctx context.Context, book Book, patch Patch, show func(Book)) error {
	show(patch.Apply(book))
	var data struct{ UpdateBook struct{ Book Book } }
	input := map[string]any{"id": book.ID, "expectedVersion": book.Version, "patch": patch}
	failed := c.Ask(ctx, `mutation ($input: UpdateBookInput!) {
		updateBook(input: $input) { book { id version name pages price } }
	}`, map[string]any{"input": input}, &data)
	if failed == nil {
		show(data.UpdateBook.Book)
		return nil
	}
	now, err := c.Book(ctx, book.ID)
	if err != nil {
		return errors.Join(failed, err)
	}
	show(now)
	var refused *Error
	sameField := patch.Pages != nil && now.Pages != book.Pages || patch.Price != nil && now.Price != book.Price
	if !errors.As(failed, &refused) || refused.Extensions.Code != "CONFLICT" || sameField {
		return failed
	}
	fmt.Printf("changed concurrently: trying again with version %d\n", now.Version)
	return c.Change(ctx, now, patch, show)
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	client := &Client{URL: "http://localhost:8080", Token: os.Getenv("TOKEN")}
	if url := os.Getenv("CATALOGUE_URL"); url != "" {
		client.URL = url
	}
	books, err := client.FirstBooks(ctx)
	if err != nil {
		return err
	}
	for _, book := range books {
		fmt.Printf("%s: %s, %s\n", book.Name, book.Genre.Name, book.Genre.Category.Name)
	}

	count := 0
	for _, err := range client.AllBooks(ctx) {
		if err != nil {
			return err
		}
		count++
	}
	fmt.Println(count, "books")

	book, err := client.Book(ctx, "1")
	if err != nil {
		return err
	}
	pages, price := book.Pages+1, "4.50"
	if err := client.Change(ctx, book, Patch{Pages: &pages}, func(Book) {}); err != nil { // somebody else
		return err
	}
	return client.Change(ctx, book, Patch{Price: &price}, func(b Book) {
		fmt.Printf("price %s, %d pages\n", b.Price, b.Pages)
	})
}
