-- oldest level: 1
-- Events of an account, numbered without gaps in each of its books. Every order that the API shows at once is an event,
-- and has no row here: the order itself says everything. Other events have a row, with the book's order count at that
-- time (`orders_through`), from which the numbers of the orders in between follow. The newest number of a book is
-- `order_count + event_shift`.
ALTER TABLE books ADD COLUMN event_shift BIGINT NOT NULL DEFAULT 0;

-- The broker's last event that was entered into this book.
ALTER TABLE books ADD COLUMN broker_events_through BIGINT NOT NULL DEFAULT 0;

-- Null: the API hid the order after this change, or the change is older than this step.
ALTER TABLE order_events ADD COLUMN number BIGINT;

ALTER TABLE order_events ADD COLUMN orders_through BIGINT;

-- Events that are not about orders. Two kinds are no events: `hidden`, an order that the API hides, which takes no
-- number; and `start`, where the numbers begin that can be read: what came before was deleted, or is older than this step.
CREATE TABLE account_events (
    book_id BIGINT NOT NULL,
    number BIGINT NOT NULL,
    orders_through BIGINT NOT NULL,
    kind TEXT NOT NULL,
    at_us BIGINT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (book_id, number, orders_through)
);
CREATE INDEX account_events_by_time ON account_events (at_us) WHERE kind <> 'start';

-- Events that could not be entered at once, because their book was locked.
CREATE TABLE late_events (
    book_id BIGINT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    at_us BIGINT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (book_id, id)
);

-- Events of all accounts of a broker, written with the change that they tell of, and then entered into every book.
CREATE TABLE broker_events (
    broker TEXT NOT NULL,
    number BIGINT NOT NULL,
    kind TEXT NOT NULL,
    at_us BIGINT NOT NULL,
    detail TEXT NOT NULL,
    entered BIGINT NOT NULL DEFAULT 0 CHECK (entered IN (0, 1)),
    PRIMARY KEY (broker, number)
);
CREATE INDEX broker_events_not_entered ON broker_events (broker, number) WHERE entered = 0;
