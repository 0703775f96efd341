-- +goose Up
SELECT 1; -- PostgreSQL alone is told how much to see of the texts in its indexes
