-- +goose Up
SELECT 1; -- PostgreSQL alone chooses the rows of a list by an index of many columns
