// Package changes is the room of time: the log of changes, and each notion of "when" of the store.
//
//	a commit has               a tick gives          a reader holds             a client sees
//	────────────               ────────────          ──────────────             ─────────────
//	n of a slot ──┬─ sum ─────────────────────────▶ revision of a Snapshot ──▶ ETag
//	n of a slot ──┤
//	n of a slot ──┴─ all ─────────────────────────▶ vector of a replica
//
//	its changes ──── log ──▶ order, one time ──┬──▶ position ────────────────▶ position, asOf
//	                                           └──▶ mark of kept counts
//
// # Which state is this?
//
// The table revision has rows, its slots. A transaction that changes the catalogue adds a random step to one of them
// and holds it locked until its commit, so concurrent writers use different slots.
//
//   - Revision: the sum of the slots. Two reads with one revision saw one state; a revision says nothing about order.
//     A Snapshot, a cached response and an ETag are of one revision. Steps are random, so no later state has the
//     revision of one that a failover or a restored backup lost.
//   - Reference revision: the sum of the steps that genres and categories made. Cached genres are valid at one.
//   - Vector: the numbers of all slots. A state has all commits of another one if none of its numbers is less, which
//     the sums cannot tell. Package replica compares vectors.
//
// # In which order, and when?
//
// Triggers log each change in the transaction of its writer, with a number, its seq. That is the order of writing and
// not of commits: on PostgreSQL a lower seq may commit later.
//
//   - Tick: a row of the table ticks, with the PostgreSQL snapshot of the transaction that made it. Its changes are the
//     changes that it sees and the tick before does not. They stay the same for ever, and have one time. On SQLite,
//     which has one writer at a time, each change is a tick of its own, and its transaction gives it the time.
//   - Position: a place in the log, after one change of a tick or after all. The feed, webhooks and the history hold
//     positions. A position is refused when its changes are not kept.
//   - asOf: a time from a client. It stands for the position after the last tick that is not later, and rows of the
//     past carry that position. Settle first waits for commits that may still get an earlier time, so that the answer
//     to one asOf is always the same.
//   - Mark: a position with the transactions that its tick does not see. Counts are kept at a mark, and brought forward
//     by the changes after it.
//
// Tick gives all committed changes a place in the log. Settle also makes their times final. A client that reads at an
// ETag of revision 7 and follows from a position of the same Snapshot misses no change.
package changes
