-- +goose Up
SELECT 1; -- PostgreSQL alone has indexes for parts of texts
