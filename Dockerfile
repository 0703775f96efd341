FROM node:24 AS web
WORKDIR /src
COPY Makefile ./
COPY web web
RUN make web

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=web /src/web/graphiql/dist web/graphiql/dist
# .git is in the context: Go asks git for the commit and the date of `catalogue version`.
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /catalogue ./cmd/catalogue

FROM gcr.io/distroless/static:nonroot
ARG VERSION COMMIT DATE
LABEL org.opencontainers.image.title="Library Catalogue" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}" \
      org.opencontainers.image.created="${DATE}"
COPY --from=build /catalogue /catalogue
ENV CATALOGUE_ADDR=:8080 CATALOGUE_LOG_FORMAT=json
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=4s --start-period=10s CMD ["/catalogue", "healthcheck"]
ENTRYPOINT ["/catalogue"]
CMD ["serve"]
