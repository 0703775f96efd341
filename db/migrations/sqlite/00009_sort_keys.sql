-- +goose Up
SELECT 1; -- PostgreSQL alone has a quicker way to cut texts
