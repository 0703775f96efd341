// Package changes is the room of time: the log of changes, and each notion of "when" of the store.
//
//	a commit has               a tick gives          a reader holds             a client sees
//	────────────               ────────────          ──────────────             ─────────────
//	n of a slot ──┬─ sum ─────────────────────────▶ revision of a Snapshot ──▶ ETag of a list, of GraphQL
//	n of a slot ──┤
//	n of a slot ──┴─ all ─────────────────────────▶ vector of a replica
//
//	its changes ──── log ──▶ order, one time ──┬──▶ position ────────────────▶ position, asOf
//	                                           └──▶ mark of kept counts
//
// # Which state is this?
//
// The table revision has rows, its slots: 64 or more on PostgreSQL, one on SQLite. A transaction that writes to the
// catalogue adds a random step to one of them, on PostgreSQL even if it changes no row, and holds it locked until its
// commit. So concurrent writers use different slots.
//
//   - Revision: the sum of the slots. Two reads with one revision saw one state; a revision says nothing about order.
//     A Snapshot, a cached response and the ETag of a list or of GraphQL are of one revision. The ETag of one REST
//     object has the versions of its row and of the nested ones instead; package httpcond has the texts. Steps are
//     random, so no later state has the revision of one that a failover or a restored backup lost.
//   - Reference revision: the sum of the steps that genres and categories made. Cached genres are valid at one.
//   - Vector: the numbers of all slots. A state has all commits of another one if none of its numbers is less, which
//     the sums cannot tell. Package replica compares vectors.
//
// # In which order?
//
// Triggers log each change in the transaction of its writer, with a number, its seq. That is the order of writing and
// not of commits: on PostgreSQL a lower seq may commit later. Within a row the two are the same. The entry of version
// k+1 keeps the columns of version k (old), and the table has the last version. A purge sets old to NULL.
//
//   - Tick: a row of the table ticks, with the PostgreSQL snapshot of the transaction that made it. Its changes are the
//     changes that it sees and the tick before does not. They stay the same for ever, and have one time. On SQLite,
//     which has one writer at a time, each change is a tick of its own, and its transaction gives it the time. Changes
//     of other programs are untimed until the next transaction of the service.
//   - Position: a place in the log, "tick.seq" after one change of a tick or "tick.0" after all. On SQLite it is always
//     "seq.0", after one change.
//   - asOf: a time from a client. It stands for the position after the last tick that is not later, and rows of the
//     past carry that position, nested ones too. A row is the old of its first change after the position, else the
//     current row.
//   - Mark: a tick with the transactions that it does not see. Counts are kept at a mark, and brought forward by the
//     changes after it. On SQLite it is the greatest seq, also of an untimed change, so it may be after each position.
//
// # Who hands out positions, and who takes them?
//
//	from                                                              to
//	────                                                              ──
//	pages of changes, subscriptions, webhooks, Catalogue-Position     follow: the changes after it
//	history, recentChanges; each of the above                         page back: the changes before it
//	a change of a row                                                 restore: the row after that change
//
// A client that reads with Catalogue-Position and follows from there misses no change. It may see some again, because
// the position may be older than the revision of the response.
//
// # When is a position refused?
//
// The log is kept from its beginning, which Forget moves. No change before it is kept, so a client can read forwards
// from there, but not backwards. The error is POSITION_GONE.
//
//	use                              needs                                   beginning   condition
//	───                              ─────                                   ─────────   ─────────
//	follow                           the place                               accepted    window
//	kept counts                      the tick; no reset or purge since       accepted    sinceSQL
//	row of the past (asOf)           the tick; no reset or purge of the row  accepted    NextSQL, reader.AsOf
//	history, recentChanges, restore  the tick, with its changes              refused     Statements.Kept
//
// Kept counts are read again instead of an error. Numbers of ticks are random, so the place of a lost state is refused
// too; on SQLite those of changes are. A change whose row was purged, or lost by a reset, is in the history without its
// row. Restore also refuses a change of another row, and one that deleted the row.
//
// # When is a time final?
//
// A writer may have taken its time and not be committed: then an answer about that time would change. While a search
// says that a time is open, Settle waits for such writers, and PositionAt of the Snapshot searches again. It refuses a
// time in the future (BAD_USER_INPUT) and one before the log begins (POSITION_GONE).
//
//	                 PostgreSQL                              SQLite
//	                 ──────────                              ──────
//	open             the newest tick is of another revision  until 1 s later, or the last Settle; has untimed changes
//	Settle           the lock of ticks, then a tick          a transaction of the service; it waits 1 s at most
//	after a timeout  UNAVAILABLE                             UNAVAILABLE, unless the second search finds it final
//
// Within a read-only transaction Settle cannot help, so Store.Read settles and runs again. The answer stands although
// the time is open in a transaction that writes, on a read-only database, and if replicas serve all reads. After the
// clock was set back, later ticks have the time of the newest one, so the answer for that time changes. Tick is a
// Settle that waits for no writer: it gives committed changes a place and a time.
package changes
