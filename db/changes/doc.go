// Package changes is the room of time: it holds each notion of "when" of the store, and the log of changes.
//
//	a commit has                     a tick gives             a reader holds            a client sees
//	────────────                     ────────────             ──────────────            ─────────────
//	n of a slot ──┐ sum ───────────────────────────────────▶ revision of a Snapshot ──▶ ETag
//	n of a slot ──┤
//	n of a slot ──┴ all ───────────────────────────────────▶ vector of a replica
//
//	its changes ──▶ log ──▶ batch: order, one time ──┬─────▶ position ────────────────▶ position, asOf
//	                                                 └─────▶ mark of kept counts
//
// # Which state is this?
//
// The table revision has rows, its slots. A transaction that changes the catalogue adds a random step to one of them
// and holds it locked until its commit, so concurrent writers use different slots.
//
//   - Revision: the sum of the slots. Equal revisions are one state of the catalogue; that is all that they tell. A
//     response with an ETag, a cached one and a Snapshot are of one revision. Steps are random, so a state that a
//     failover or a restored backup lost has the revision of no later one.
//   - Reference revision: the sum of the steps that genres and categories made. Cached genres live as long as it stays.
//   - Vector: the numbers of all slots. A state whose vector covers another one has all its commits, which the sum
//     cannot tell: two commits in other slots may have the same sum. Package replica compares vectors.
//
// # In which order, and when?
//
// Triggers log each change in the transaction of its writer. Its seq is the order of writing, which is not that of
// commits: on PostgreSQL a lower seq may commit later.
//
//   - Tick: a row of the table ticks, with the snapshot of the transaction that made it. Its batch has the changes that
//     it sees and the tick before it does not. A batch is never extended, so it has a place in the order and one time.
//     SQLite has one writer at a time, so each change is a batch, its seq is the tick, and the commit gives the time.
//   - Position: a place in the log, after a change of a batch or after the whole batch. The feed, pages, webhooks and
//     the history hold positions. A position whose changes are not kept is refused, never guessed.
//   - asOf: a time. It means the position after the last batch that is not later. Settle first waits for commits that
//     may still get an earlier time, so the answer stays the same.
//   - Mark: a position with what its tick did not see. Counts kept at a mark are brought forward by the changes since.
//
// Tick gives all committed changes a place. Settle also makes times final. Nothing else in the module has to know how.
package changes
