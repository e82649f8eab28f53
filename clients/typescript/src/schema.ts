// Written by `python -m tools.typescript_types` from docs/openapi.json. Change that, not this.

export interface paths {
    "/api/trading/test/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the account and the key (test) */
        get: operations["me_test"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the account and the key (production) */
        get: operations["me_production"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/test/v1/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List orders (test) */
        get: operations["list_orders_test"];
        put?: never;
        /** Place an order (test) */
        post: operations["place_order_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/v1/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List orders (production) */
        get: operations["list_orders_production"];
        put?: never;
        /** Place an order (production) */
        post: operations["place_order_production"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/test/v1/orders/{order_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an order (test) */
        get: operations["read_order_test"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/v1/orders/{order_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an order (production) */
        get: operations["read_order_production"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/test/v1/positions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the positions (test) */
        get: operations["positions_test"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/v1/positions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the positions (production) */
        get: operations["positions_production"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/test/v1/symbols": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the symbols (test) */
        get: operations["symbols_test"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/v1/symbols": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the symbols (production) */
        get: operations["symbols_production"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/test/v1/quotes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the prices (test) */
        get: operations["quotes_test"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/v1/quotes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the prices (production) */
        get: operations["quotes_production"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/test/v1/quotes/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stream the prices (test) */
        get: operations["stream_quotes_test"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/v1/quotes/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stream the prices (production) */
        get: operations["stream_quotes_production"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/test/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read what happened (test) */
        get: operations["events_test"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read what happened (production) */
        get: operations["events_production"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/test/v1/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stream what happens (test) */
        get: operations["stream_events_test"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/v1/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stream what happens (production) */
        get: operations["stream_events_production"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/test/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the webhooks (test) */
        get: operations["list_webhooks_test"];
        put?: never;
        /** Set up a webhook (test) */
        post: operations["create_webhook_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the webhooks (production) */
        get: operations["list_webhooks_production"];
        put?: never;
        /** Set up a webhook (production) */
        post: operations["create_webhook_production"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/test/v1/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a webhook (test) */
        get: operations["read_webhook_test"];
        put?: never;
        post?: never;
        /** Delete a webhook (test) */
        delete: operations["delete_webhook_test"];
        options?: never;
        head?: never;
        /** Change a webhook (test) */
        patch: operations["change_webhook_test"];
        trace?: never;
    };
    "/api/trading/v1/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a webhook (production) */
        get: operations["read_webhook_production"];
        put?: never;
        post?: never;
        /** Delete a webhook (production) */
        delete: operations["delete_webhook_production"];
        options?: never;
        head?: never;
        /** Change a webhook (production) */
        patch: operations["change_webhook_production"];
        trace?: never;
    };
    "/api/trading/test/v1/webhooks/{webhook_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rotate the secret (test) */
        post: operations["rotate_webhook_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/v1/webhooks/{webhook_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rotate the secret (production) */
        post: operations["rotate_webhook_production"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/test/v1/webhooks/{webhook_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a test (test) */
        post: operations["test_webhook_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/v1/webhooks/{webhook_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a test (production) */
        post: operations["test_webhook_production"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/test/v1/webhooks/{webhook_id}/attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the attempts (test) */
        get: operations["webhook_attempts_test"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/v1/webhooks/{webhook_id}/attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the attempts (production) */
        get: operations["webhook_attempts_production"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/test/v1/webhooks/{webhook_id}/dead": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the events that were given up (test) */
        get: operations["dead_webhook_events_test"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/v1/webhooks/{webhook_id}/dead": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the events that were given up (production) */
        get: operations["dead_webhook_events_production"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/test/v1/webhooks/{webhook_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send events again that were given up (test) */
        post: operations["replay_webhook_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trading/v1/webhooks/{webhook_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send events again that were given up (production) */
        post: operations["replay_webhook_production"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Is the node running? */
        get: operations["live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** May the node be sent calls? */
        get: operations["ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This description */
        get: operations["description"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The account and the key behind a call. */
        Account: {
            /**
             * @description The account's login.
             * @example mehta-jewels
             */
            login_id: string;
            /**
             * @description The firm that has the account.
             * @example Mehta Jewels Pvt Ltd
             */
            firm_name: string | null;
            /**
             * @description The environment of the key that was sent.
             * @example test
             * @enum {string}
             */
            environment: "test" | "production";
            /**
             * @description The key's public id. Unlike the key, it may be quoted to the operator.
             * @example 9f2c41d07ab8e356
             */
            key_id: string;
            /**
             * @description The name that the key was issued with.
             * @example pricing engine
             */
            key_name: string;
            /**
             * @description What the key may do.
             * @example [
             *       "account:read",
             *       "orders:read",
             *       "orders:write"
             *     ]
             */
            scopes: ("account:read" | "orders:read" | "orders:write" | "webhooks:manage")[];
            /**
             * @description Whether the switches let the account place production orders now; the same in both environments. A hint: every order is checked again when it is placed.
             * @example false
             */
            production_trading_available: boolean;
        };
        /**
         * @description A market order. Any other field is refused, so that a misspelt name is noticed.
         * @example {
         *       "symbol_code": "GOLD",
         *       "trade_type": "buy",
         *       "quantity": 100,
         *       "client_order_id": "desk-7-0042"
         *     }
         * @example {
         *       "symbol_code": "SILVER",
         *       "trade_type": "sell",
         *       "quantity": 2,
         *       "expected_price": 299854
         *     }
         */
        PlaceOrder: {
            /**
             * @description What to trade.
             * @example GOLD
             */
            symbol_code: string;
            /**
             * @description Your side. Any other text is refused with `invalid_side`.
             * @example buy
             * @enum {string}
             */
            trade_type: "buy" | "sell";
            /**
             * @description The weight, in the symbol's unit, with no more than 4 decimal places. It is read exactly as written; `100`, `100.00000` and `1e2` are the same. A validator of yours has to count in decimals too: in binary floats, 0.3 is no multiple of 0.0001.
             * @example 100
             */
            quantity: number;
            /** @description The price that you expect, in rupees per quoted weight, with no more than 20 significant digits. When the current price differs from it by more than the operator tolerates, up or down, the order is refused with `price_moved`. Without it, any price is accepted. */
            expected_price?: number | null;
            /**
             * @description A name of your own for the order. It need not be unique.
             * @example desk-7-0042
             */
            client_order_id?: string | null;
        };
        /** @description An order of the test environment. */
        TestOrder: {
            /**
             * Format: uuid
             * @description Names the order: read it with this.
             * @example 01a1dd79-5ea2-7c31-8d52-6e1f0b94a7c3
             */
            id: string;
            /**
             * @description The environment that the order was placed in. This service always sends it.
             * @example test
             * @enum {string}
             */
            environment: "test";
            /**
             * @description What is traded.
             * @example GOLD
             */
            symbol_code: string;
            /**
             * @description The client's side.
             * @example buy
             * @enum {string}
             */
            trade_type: "buy" | "sell";
            /**
             * Format: decimal
             * @description The weight, in `unit`.
             * @example 100.0000
             */
            quantity: string;
            /**
             * @description What the symbol is weighed in: gold in `g`, silver in `kg`.
             * @example g
             * @enum {string}
             */
            unit: "g" | "kg";
            /**
             * Format: decimal
             * @description The price, in rupees per quoted weight of the symbol. This service always sends it.
             * @example 150630.00
             */
            price: string;
            /**
             * Format: decimal
             * @description The whole quantity at that price, in rupees. This service always sends it.
             * @example 1506300.00
             */
            total: string;
            /**
             * @description The only state of a test order.
             * @example filled
             * @enum {string}
             */
            status: "filled";
            /**
             * @description The client's own name for it, if one was sent. This service always sends it.
             * @example desk-7-0042
             */
            client_order_id: string | null;
            /**
             * Format: date-time
             * @description When the order was placed, in UTC. This service always sends it.
             * @example 2026-11-15T04:31:21.250417+00:00
             */
            created_at: string;
            /**
             * @description `T-` and the order's number in the account's test book. There is no deal behind it. This service always sends it.
             * @example T-1
             */
            deal_label: string;
        };
        /** @description An order of the production environment. */
        ProductionOrder: {
            /**
             * Format: uuid
             * @description Names the order: read it with this.
             * @example 01a1dd79-5ea2-7c31-8d52-6e1f0b94a7c3
             */
            id: string;
            /**
             * @description The environment that the order was placed in. This service always sends it.
             * @example production
             * @enum {string}
             */
            environment: "production";
            /**
             * @description What is traded.
             * @example GOLD
             */
            symbol_code: string;
            /**
             * @description The client's side.
             * @example buy
             * @enum {string}
             */
            trade_type: "buy" | "sell";
            /**
             * Format: decimal
             * @description The weight, in `unit`.
             * @example 100.0000
             */
            quantity: string;
            /**
             * @description What the symbol is weighed in: gold in `g`, silver in `kg`.
             * @example g
             * @enum {string}
             */
            unit: "g" | "kg";
            /**
             * Format: decimal
             * @description The price, in rupees per quoted weight of the symbol; null until it is booked. This service always sends it.
             * @example 150630.00
             */
            price: string | null;
            /**
             * Format: decimal
             * @description The whole quantity at that price, in rupees; null until it is booked. This service always sends it.
             * @example 1506300.00
             */
            total: string | null;
            /**
             * @description The state of the order. `pending`: it was accepted and waits for the hedge; it is no deal yet, but its weight counts already. `open`: it is booked. `closing`: the operator has begun to close it. `closed`: it is closed. `rejected`: the hedge refused it, so there is no deal. `deleted`: the operator removed it. Branch on this.
             * @example open
             * @enum {string}
             */
            status: "pending" | "open" | "closing" | "closed" | "rejected" | "deleted";
            /**
             * @description The client's own name for it, if one was sent. This service always sends it.
             * @example desk-7-0042
             */
            client_order_id: string | null;
            /**
             * Format: date-time
             * @description When the order was placed, in UTC. This service always sends it.
             * @example 2026-11-15T05:02:47.918306+00:00
             */
            created_at: string | null;
            /**
             * @description The number of the operator's deal; null where there is none. This service always sends it.
             * @example 48213
             */
            deal_no: number | null;
            /**
             * @description The operator's own name for the state, such as `HEDGE_WAIT`. Quote it to the desk; programs use `status`.
             * @example BOOKED
             */
            status_detail: string;
            /**
             * @description The channel of the order: `api` is this one, `web` and `mobile` are two of the others. This service always sends it.
             * @example api
             */
            source: string | null;
            /**
             * Format: decimal
             * @description The price it was closed at, in rupees per quoted weight; null before that. This service always sends it.
             * @example null
             */
            close_price: string | null;
            /**
             * Format: decimal
             * @description The profit of closing it in rupees, below 0 for a loss; null before that. This service always sends it.
             * @example null
             */
            realized_pnl: string | null;
            /**
             * Format: date-time
             * @description When it was closed, in UTC; null before that. This service always sends it.
             * @example null
             */
            closed_at: string | null;
        };
        /** @description The order that the hedge refused, as it was left. Nothing was booked, so it has no price. */
        RejectedOrder: {
            /**
             * Format: uuid
             * @description Names the order: read it with this.
             * @example 01a1dd79-5ea2-7c31-8d52-6e1f0b94a7c3
             */
            id: string;
            /**
             * @description The environment that the order was placed in. This service always sends it.
             * @example production
             * @enum {string}
             */
            environment: "production";
            /**
             * @description What is traded.
             * @example GOLD
             */
            symbol_code: string;
            /**
             * @description The client's side.
             * @example buy
             * @enum {string}
             */
            trade_type: "buy" | "sell";
            /**
             * Format: decimal
             * @description The weight, in `unit`.
             * @example 100.0000
             */
            quantity: string;
            /**
             * @description What the symbol is weighed in: gold in `g`, silver in `kg`.
             * @example g
             * @enum {string}
             */
            unit: "g" | "kg";
            /**
             * Format: decimal
             * @description The price, in rupees per quoted weight of the symbol; null until it is booked. This service always sends it.
             * @example 150630.00
             */
            price: string | null;
            /**
             * Format: decimal
             * @description The whole quantity at that price, in rupees; null until it is booked. This service always sends it.
             * @example 1506300.00
             */
            total: string | null;
            /**
             * @description The hedge refused it.
             * @example rejected
             * @enum {string}
             */
            status: "rejected";
            /**
             * @description The client's own name for it, if one was sent. This service always sends it.
             * @example desk-7-0042
             */
            client_order_id: string | null;
            /**
             * Format: date-time
             * @description When the order was placed, in UTC. This service always sends it.
             * @example 2026-11-15T05:02:47.918306+00:00
             */
            created_at: string | null;
            /**
             * @description The number of the operator's deal; null where there is none. This service always sends it.
             * @example 48213
             */
            deal_no: number | null;
            /**
             * @description The operator's own name for the state, such as `HEDGE_WAIT`. Quote it to the desk; programs use `status`.
             * @example BOOKED
             */
            status_detail: string;
            /**
             * @description The channel of the order: `api` is this one, `web` and `mobile` are two of the others. This service always sends it.
             * @example api
             */
            source: string | null;
            /**
             * Format: decimal
             * @description The price it was closed at, in rupees per quoted weight; null before that. This service always sends it.
             * @example null
             */
            close_price: string | null;
            /**
             * Format: decimal
             * @description The profit of closing it in rupees, below 0 for a loss; null before that. This service always sends it.
             * @example null
             */
            realized_pnl: string | null;
            /**
             * Format: date-time
             * @description When it was closed, in UTC; null before that. This service always sends it.
             * @example null
             */
            closed_at: string | null;
        };
        /** @description A page of the account's test orders. */
        TestOrderList: {
            /** @description One page of orders, the newest first. */
            items: components["schemas"]["TestOrder"][];
            /** @description How many orders match the filters, on all pages together. */
            total: number;
        };
        /** @description A page of the account's real orders. */
        ProductionOrderList: {
            /** @description One page of orders, the newest first. */
            items: components["schemas"]["ProductionOrder"][];
            /** @description How many orders match the filters, on all pages together. */
            total: number;
        };
        /** @description A metal's position. Buys and sells net off, whatever the symbol. */
        MetalPosition: {
            /**
             * Format: decimal
             * @description What was bought less what was sold; below 0 when more was sold.
             */
            net: string;
            /**
             * Format: decimal
             * @description The allocation: the weight that the account may hold, long or short.
             */
            limit: string;
            /**
             * Format: decimal
             * @description `net` without its sign.
             */
            used: string;
            /**
             * Format: decimal
             * @description What is left of `limit`; 0 also when `used` is past it.
             */
            free: string;
            /**
             * @description The unit of all four: `g` for gold, `kg` for silver.
             * @enum {string}
             */
            unit: "g" | "kg";
        };
        /** @description The positions of the account's test book, against its real allocation. */
        TestPositions: {
            gold: components["schemas"]["MetalPosition"];
            silver: components["schemas"]["MetalPosition"];
        };
        /** @description What is open in one symbol. */
        SymbolPosition: {
            /** @description The symbol. */
            symbol_code: string;
            /**
             * @description Which allocation it counts against.
             * @enum {string}
             */
            metal: "gold" | "silver";
            /**
             * Format: decimal
             * @description The weight of all open buys.
             */
            buy: string;
            /**
             * Format: decimal
             * @description The weight of all open sells.
             */
            sell: string;
            /**
             * Format: decimal
             * @description `buy` less `sell`.
             */
            net: string;
            /**
             * @description The unit of all three: `g` for gold, `kg` for silver.
             * @enum {string}
             */
            unit: "g" | "kg";
        };
        /** @description The positions of the account's real book. */
        ProductionPositions: {
            gold: components["schemas"]["MetalPosition"];
            silver: components["schemas"]["MetalPosition"];
            /** @description One row for each symbol with an open order, also where buys and sells cancel out. */
            symbols: components["schemas"]["SymbolPosition"][];
        };
        /** @description A symbol as the account may trade it, after the terms of its group. */
        Symbol: {
            /**
             * @description What an order names it by.
             * @example GOLD
             */
            symbol_code: string;
            /**
             * @description Which allocation its orders count against.
             * @example gold
             * @enum {string}
             */
            metal: "gold" | "silver";
            /**
             * @description The unit of every weight here and in its orders.
             * @example g
             * @enum {string}
             */
            unit: "g" | "kg";
            /**
             * Format: decimal
             * @description The weight that a price is for: `10.0000` means rupees per 10 g.
             * @example 10.0000
             */
            quoted_weight: string;
            /**
             * Format: decimal
             * @description The smallest quantity of an order.
             * @example 1.0000
             */
            minimum: string;
            /**
             * Format: decimal
             * @description The largest quantity of an order.
             * @example 10000.0000
             */
            maximum: string;
            /**
             * Format: decimal
             * @description A quantity must be a multiple of this.
             * @example 1.0000
             */
            step: string;
            /**
             * @description The sides that are offered to the account.
             * @example [
             *       "buy",
             *       "sell"
             *     ]
             */
            sides: ("buy" | "sell")[];
            /**
             * @description Whether trading is on for the symbol.
             * @example true
             */
            trading: boolean;
        };
        /** @description The symbols of the broker. */
        Symbols: {
            items: components["schemas"]["Symbol"][];
        };
        /** @description The account's own prices in a symbol. They are not binding: an order is priced again. */
        Quote: {
            /**
             * @description The symbol.
             * @example GOLD
             */
            symbol_code: string;
            /**
             * Format: decimal
             * @description What a buy would pay now, in rupees per quoted weight.
             * @example 150630.00
             */
            buy: string | null;
            /**
             * Format: decimal
             * @description What a sell would get now, in rupees per quoted weight.
             * @example 150313.00
             */
            sell: string | null;
            /**
             * Format: date-time
             * @description When the oldest rate behind the price was quoted; null for a fixed price.
             * @example 2026-11-15T04:31:20.904118+00:00
             */
            at: string | null;
            /**
             * @description Whether the market would accept an order now.
             * @example true
             */
            tradable: boolean;
            /**
             * @description If not tradable: the code of the refusal that an order would get.
             * @example null
             */
            reason: string | null;
        };
        /** @description Prices of the moment. */
        Quotes: {
            items: components["schemas"]["Quote"][];
        };
        /** @description A key that was replaced or revoked. */
        KeyNews: {
            /**
             * @description The key's public id.
             * @example k7f3q9
             */
            key_id: string;
            /**
             * @description The name it was issued with.
             * @example trading desk
             */
            key_name: string;
            /**
             * @description The key's environment.
             * @enum {string}
             */
            environment: "test" | "production";
            /** @description What the key may do, or might. */
            scopes: string[];
            /** @description The id of the key that replaces it, if one does. */
            replaced_by: string | null;
            /**
             * Format: date-time
             * @description Until then a replaced key still works.
             */
            overlap_ends_at: string | null;
        };
        /** @description Trading was halted for all accounts of the broker, or goes on. */
        TradingNews: {
            /** @description Whether trading is halted now. */
            halted: boolean;
        };
        /** @description A symbol was frozen by the desk, or is traded again. */
        SymbolNews: {
            /**
             * @description The symbol.
             * @example GOLD
             */
            symbol_code: string;
            /**
             * @description Its metal.
             * @example gold
             * @enum {string}
             */
            metal: "gold" | "silver";
            /**
             * @description Its unit.
             * @example g
             * @enum {string}
             */
            unit: "g" | "kg";
            /** @description Whether the symbol is frozen now. */
            frozen: boolean;
        };
        /** @description Something that happened to the account in the test environment. */
        TestEvent: {
            /**
             * @description Names the event for ever.
             * @example evt_5f0c2b8e94d14c02a6f0a1c7e3b95d11
             */
            id: string;
            /**
             * @description Its place among the account's events, from 1, without gaps.
             * @example 17
             */
            number: number;
            /**
             * @description What happened.
             * @example order.created
             * @enum {string}
             */
            type: "order.created" | "order.opened" | "order.rejected" | "order.closing" | "order.closed" | "order.deleted" | "allocation.changed" | "key.rotated" | "key.revoked" | "trading.halted" | "trading.resumed" | "symbol.frozen" | "symbol.resumed";
            /**
             * Format: date-time
             * @description When it happened, in UTC.
             * @example 2026-11-15T04:31:21.250417+00:00
             */
            timestamp: string;
            /**
             * @description The environment.
             * @example test
             * @enum {string}
             */
            environment: "test";
            /** @description What it is about, exactly as the API would have answered at that time: the order, the positions with the new allocation, the key, the halt or the symbol. */
            data: components["schemas"]["TestOrder"] | components["schemas"]["TestPositions"] | components["schemas"]["KeyNews"] | components["schemas"]["TradingNews"] | components["schemas"]["SymbolNews"];
        };
        /** @description Something that happened to the account in the production environment. */
        ProductionEvent: {
            /**
             * @description Names the event for ever.
             * @example evt_5f0c2b8e94d14c02a6f0a1c7e3b95d11
             */
            id: string;
            /**
             * @description Its place among the account's events, from 1, without gaps.
             * @example 17
             */
            number: number;
            /**
             * @description What happened.
             * @example order.created
             * @enum {string}
             */
            type: "order.created" | "order.opened" | "order.rejected" | "order.closing" | "order.closed" | "order.deleted" | "allocation.changed" | "key.rotated" | "key.revoked" | "trading.halted" | "trading.resumed" | "symbol.frozen" | "symbol.resumed";
            /**
             * Format: date-time
             * @description When it happened, in UTC.
             * @example 2026-11-15T04:31:21.250417+00:00
             */
            timestamp: string;
            /**
             * @description The environment.
             * @example production
             * @enum {string}
             */
            environment: "production";
            /** @description What it is about, exactly as the API would have answered at that time: the order, the positions with the new allocation, the key, the halt or the symbol. */
            data: components["schemas"]["ProductionOrder"] | components["schemas"]["ProductionPositions"] | components["schemas"]["KeyNews"] | components["schemas"]["TradingNews"] | components["schemas"]["SymbolNews"];
        };
        /** @description The next events of the account. */
        TestEventList: {
            /** @description Oldest first. */
            items: components["schemas"]["TestEvent"][];
            /**
             * @description Send it as `after` to read on: the last number of this page.
             * @example 17
             */
            next_after: number;
            /**
             * @description Whether there are more events already.
             * @example false
             */
            has_more: boolean;
        };
        /** @description The next events of the account. */
        ProductionEventList: {
            /** @description Oldest first. */
            items: components["schemas"]["ProductionEvent"][];
            /**
             * @description Send it as `after` to read on: the last number of this page.
             * @example 17
             */
            next_after: number;
            /**
             * @description Whether there are more events already.
             * @example false
             */
            has_more: boolean;
        };
        /** @description An address that should get the account's events. */
        CreateWebhook: {
            /**
             * Format: uri
             * @description Where events are sent: a URL with `https` that leads to the public internet.
             * @example https://hooks.example.com/bullion
             */
            url: string;
            /**
             * @description The types of events to send. `null`, or left out: all.
             * @example [
             *       "order.opened",
             *       "order.closed"
             *     ]
             */
            types?: ("order.created" | "order.opened" | "order.rejected" | "order.closing" | "order.closed" | "order.deleted" | "allocation.changed" | "key.rotated" | "key.revoked" | "trading.halted" | "trading.resumed" | "symbol.frozen" | "symbol.resumed")[] | null;
            /**
             * @description For people.
             * @example order book of the back office
             */
            description?: string;
        };
        /** @description What is to be different. A field that is left out stays as it is. */
        ChangeWebhook: {
            /**
             * Format: uri
             * @description Where events are sent from now on.
             */
            url?: string;
            /** @description The types of events to send. `null`: all. */
            types?: ("order.created" | "order.opened" | "order.rejected" | "order.closing" | "order.closed" | "order.deleted" | "allocation.changed" | "key.rotated" | "key.revoked" | "trading.halted" | "trading.resumed" | "symbol.frozen" | "symbol.resumed")[] | null;
            /** @description For people. */
            description?: string;
            /**
             * @description `false` stops it. `true` lets it go on with the event that it stopped at.
             * @example true
             */
            enabled?: boolean;
        };
        /** @description Which events are sent again. */
        ReplayWebhook: {
            /**
             * @description The event's number. `null`, or left out: all.
             * @example 17
             */
            number?: number | null;
        };
        /** @description An address that gets the account's events, and how the delivery stands. */
        WebhookStatus: {
            /**
             * @description Names the webhook.
             * @example wh_5d1f0a6c9be2774301c85e92
             */
            id: string;
            /**
             * @description Where events are sent.
             * @example https://hooks.example.com/bullion
             */
            url: string;
            /**
             * @description The types of events that are sent. `null`: all.
             * @example [
             *       "order.opened",
             *       "order.closed"
             *     ]
             */
            types: ("order.created" | "order.opened" | "order.rejected" | "order.closing" | "order.closed" | "order.deleted" | "allocation.changed" | "key.rotated" | "key.revoked" | "trading.halted" | "trading.resumed" | "symbol.frozen" | "symbol.resumed")[] | null;
            /**
             * @description For people.
             * @example order book of the back office
             */
            description: string;
            /**
             * @description The environment.
             * @example test
             * @enum {string}
             */
            environment: "test" | "production";
            /**
             * @description Whether events are sent.
             * @example true
             */
            enabled: boolean;
            /**
             * @description Why not, for people.
             * @example null
             */
            disabled_reason: string | null;
            /**
             * Format: date-time
             * @description Since when not.
             * @example null
             */
            disabled_at: string | null;
            /**
             * Format: date-time
             * @description When it was set up.
             * @example 2026-11-15T04:31:21.250417+00:00
             */
            created_at: string;
            /**
             * @description Every event up to this number was delivered, given up, or is of another type.
             * @example 17
             */
            delivered_through: number;
            /**
             * @description The number of the account's newest event.
             * @example 17
             */
            newest: number;
            /**
             * @description How often the next event was tried so far.
             * @example 0
             */
            tries: number;
            /**
             * Format: date-time
             * @description The first failure after the last delivery.
             * @example null
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When the event that failed is tried again.
             * @example null
             */
            next_try_at: string | null;
            /**
             * Format: date-time
             * @description The last delivery.
             * @example 2026-11-15T04:35:02.114207+00:00
             */
            last_delivered_at: string | null;
            /**
             * Format: date-time
             * @description After a rotation, for 24 hours: until then the old secret signs too.
             * @example null
             */
            previous_secret_until: string | null;
        };
        /** @description A webhook with its secret, which is shown once. */
        WebhookWithSecret: {
            /**
             * @description Names the webhook.
             * @example wh_5d1f0a6c9be2774301c85e92
             */
            id: string;
            /**
             * @description Where events are sent.
             * @example https://hooks.example.com/bullion
             */
            url: string;
            /**
             * @description The types of events that are sent. `null`: all.
             * @example [
             *       "order.opened",
             *       "order.closed"
             *     ]
             */
            types: ("order.created" | "order.opened" | "order.rejected" | "order.closing" | "order.closed" | "order.deleted" | "allocation.changed" | "key.rotated" | "key.revoked" | "trading.halted" | "trading.resumed" | "symbol.frozen" | "symbol.resumed")[] | null;
            /**
             * @description For people.
             * @example order book of the back office
             */
            description: string;
            /**
             * @description The environment.
             * @example test
             * @enum {string}
             */
            environment: "test" | "production";
            /**
             * @description Whether events are sent.
             * @example true
             */
            enabled: boolean;
            /**
             * @description Why not, for people.
             * @example null
             */
            disabled_reason: string | null;
            /**
             * Format: date-time
             * @description Since when not.
             * @example null
             */
            disabled_at: string | null;
            /**
             * Format: date-time
             * @description When it was set up.
             * @example 2026-11-15T04:31:21.250417+00:00
             */
            created_at: string;
            /**
             * @description Every event up to this number was delivered, given up, or is of another type.
             * @example 17
             */
            delivered_through: number;
            /**
             * @description The number of the account's newest event.
             * @example 17
             */
            newest: number;
            /**
             * @description How often the next event was tried so far.
             * @example 0
             */
            tries: number;
            /**
             * Format: date-time
             * @description The first failure after the last delivery.
             * @example null
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When the event that failed is tried again.
             * @example null
             */
            next_try_at: string | null;
            /**
             * Format: date-time
             * @description The last delivery.
             * @example 2026-11-15T04:35:02.114207+00:00
             */
            last_delivered_at: string | null;
            /**
             * Format: date-time
             * @description After a rotation, for 24 hours: until then the old secret signs too.
             * @example null
             */
            previous_secret_until: string | null;
            /**
             * @description Verifies the signatures. It is never shown again: keep it.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret: string;
        };
        /** @description The webhooks of the account in this environment. */
        WebhookList: {
            /** @description The oldest first. */
            items: components["schemas"]["WebhookStatus"][];
        };
        /** @description A webhook that is no more. */
        DeletedWebhook: {
            /**
             * @description Its id.
             * @example wh_5d1f0a6c9be2774301c85e92
             */
            id: string;
            /**
             * @description Always `true`.
             * @example true
             */
            deleted: boolean;
        };
        /** @description What the receiver made of one event. */
        WebhookReceipt: {
            /**
             * @description Whether it answered with a status from 200 to 299.
             * @example true
             */
            delivered: boolean;
            /**
             * @description The status it answered with. `null`: there was no answer.
             * @example 200
             */
            status: number | null;
            /**
             * @description How long that took, in milliseconds.
             * @example 41
             */
            duration_ms: number;
            /**
             * @description Why it does not count as delivered, for people.
             * @example null
             */
            error: string | null;
            /**
             * @description The beginning of its answer: up to 200 bytes, as text.
             * @example ok
             */
            response: string;
        };
        /** @description One try to deliver an event. */
        WebhookAttempt: {
            /**
             * @description Whether it answered with a status from 200 to 299.
             * @example true
             */
            delivered: boolean;
            /**
             * @description The status it answered with. `null`: there was no answer.
             * @example 200
             */
            status: number | null;
            /**
             * @description How long that took, in milliseconds.
             * @example 41
             */
            duration_ms: number;
            /**
             * @description Why it does not count as delivered, for people.
             * @example null
             */
            error: string | null;
            /**
             * @description The beginning of its answer: up to 200 bytes, as text.
             * @example ok
             */
            response: string;
            /**
             * @description The `id` of the event.
             * @example evt_5f0c2b8e94d14c02a6f0a1c7e3b95d11
             */
            event_id: string;
            /**
             * @description Its number; 0 for a test.
             * @example 17
             */
            number: number;
            /**
             * @description Its type; `webhook.test` for a test, `webhook.lost` for events that are gone.
             * @example order.opened
             */
            type: string;
            /**
             * Format: date-time
             * @description When it was sent.
             * @example 2026-11-15T04:35:02.114207+00:00
             */
            at: string;
        };
        /** @description The last attempts. */
        WebhookAttemptList: {
            /** @description The newest 100, the newest first. */
            items: components["schemas"]["WebhookAttempt"][];
        };
        /** @description An event that was given up. */
        DeadEvent: {
            /**
             * @description The `id` of the event.
             * @example evt_5f0c2b8e94d14c02a6f0a1c7e3b95d11
             */
            event_id: string;
            /**
             * @description Its number.
             * @example 17
             */
            number: number;
            /**
             * @description Its type.
             * @example order.opened
             */
            type: string;
            /**
             * Format: date-time
             * @description When it was given up.
             * @example 2026-11-18T05:35:02.114207+00:00
             */
            given_up_at: string;
            /**
             * @description How often it was tried.
             * @example 19
             */
            tries: number;
            /**
             * @description What went wrong the last time, for people.
             * @example The receiver answered 500.
             */
            error: string;
            /**
             * @description Whether it is about to be sent again.
             * @example false
             */
            replaying: boolean;
        };
        /** @description The events that were given up. */
        DeadEventList: {
            /** @description The oldest first. */
            items: components["schemas"]["DeadEvent"][];
        };
        /** @description How many events are sent again. */
        WebhookReplay: {
            /**
             * @description Their number.
             * @example 1
             */
            replaying: number;
        };
        /** @description The body of a refusal. Some codes have a body of their own, with further fields. */
        Refusal: {
            /** @description Why the call was refused. */
            detail: {
                /**
                 * @description Stable, for programs. Branch on this.
                 * @enum {string}
                 */
                code: "headers_too_large" | "malformed_http" | "request_timeout" | "method_not_allowed" | "auth_throttled" | "missing_credential" | "malformed_credential" | "wrong_tenant" | "wrong_environment" | "invalid_credential" | "credential_revoked" | "credential_rotated" | "credential_expired" | "address_not_allowed" | "api_access_disabled" | "account_inactive" | "insufficient_scope" | "rate_limited" | "rate_limiter_unavailable" | "scenario_not_allowed" | "unknown_scenario" | "quote_stream_disabled" | "too_many_streams" | "request_too_large" | "unsupported_encoding" | "production_prerequisites_unmet" | "idempotency_key_required" | "idempotency_key_reused" | "order_not_found" | "webhook_not_found" | "webhook_url_refused" | "webhook_limit" | "webhook_off" | "unknown_symbol" | "symbol_not_trading" | "invalid_side" | "side_not_offered" | "rates_not_ready" | "no_live_price" | "unpriced" | "stale_rate" | "trading_halted" | "symbol_frozen" | "quantity_rule" | "tradeability_unverified" | "symbol_unavailable" | "group_trading_disabled" | "group_quantity_rule" | "pricing_unavailable" | "limit_exceeded" | "out_of_stock" | "price_moved" | "booking_conflict" | "booking_unavailable" | "booking_busy" | "booking_not_completed" | "booking_outcome_unknown" | "service_unavailable" | "internal_error";
                /** @description For people. It may change. */
                message: string;
            };
        };
        /**
         * @description One thing that is wrong with a request.
         * @example {
         *       "loc": [
         *         "body",
         *         "symbol_code"
         *       ],
         *       "msg": "symbol_code is required.",
         *       "type": "missing"
         *     }
         */
        Problem: {
            /**
             * @description Where it is: `header`, `query` or `body`, then the name of what is there.
             * @example [
             *       "body",
             *       "symbol_code"
             *     ]
             */
            loc: string[];
            /**
             * @description What is wrong, for people. It may change.
             * @example symbol_code is required.
             */
            msg: string;
            /**
             * @description What kind of problem it is, for programs.
             * @example missing
             */
            type: string;
        };
        /** @description The refusal `invalid_request`, which also lists what is wrong and where. */
        InvalidRequest: {
            /** @description Why the call was refused. */
            detail: {
                /**
                 * @description Stable, for programs. Branch on this.
                 * @enum {string}
                 */
                code: "invalid_request";
                /** @description For people. It may change. */
                message: string;
                /** @description Every problem that was found, up to 20. Where there are more, a last one of the type `more_problems` says how many. */
                errors: components["schemas"]["Problem"][];
            };
        };
        /** @description The refusal `production_trading_disabled`, which also names the switch that is off. */
        ProductionTradingDisabled: {
            /** @description Why the call was refused. */
            detail: {
                /**
                 * @description Stable, for programs. Branch on this.
                 * @enum {string}
                 */
                code: "production_trading_disabled";
                /** @description For people. It may change. */
                message: string;
                /**
                 * @description Which switch is off, the widest first: `deploy`, that of the installation; `global`, that of the broker; `account`, that of the account.
                 * @enum {string}
                 */
                reason: "deploy" | "global" | "account";
            };
        };
        /** @description The refusal `events_gone`, which also says which events are kept. */
        EventsGone: {
            /** @description Why the call was refused. */
            detail: {
                /**
                 * @description Stable, for programs. Branch on this.
                 * @enum {string}
                 */
                code: "events_gone";
                /** @description For people. It may change. */
                message: string;
                /** @description The number of the first event that is kept. */
                oldest: number;
                /** @description The number of the last event; read on after it. */
                newest: number;
            };
        };
        /** @description The refusal `order_rejected`, which also shows the order that the hedge refused. */
        OrderRejected: {
            /** @description Why the call was refused. */
            detail: {
                /**
                 * @description Stable, for programs. Branch on this.
                 * @enum {string}
                 */
                code: "order_rejected";
                /** @description For people. It may change. */
                message: string;
                /**
                 * Format: uuid
                 * @description The `id` of the order.
                 */
                order_id: string;
                order: components["schemas"]["RejectedOrder"];
            };
        };
        /** @description The body of a 404 that is no refusal: the address or the path is wrong. */
        UnknownPath: {
            /** @description A plain text: there is no code. */
            detail: string;
        };
        /** @description Whether the node is running. */
        Liveness: {
            /** @description Always true: a node that is not live does not answer. */
            live: boolean;
        };
        /** @description Whether the node may be sent calls, and what that is made of. */
        Readiness: {
            /** @description Whether every part is in order. */
            ready: boolean;
        } & {
            [key: string]: boolean;
        };
        /** @description An OpenAPI document. */
        Description: Record<string, unknown>;
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    me_test: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "login_id": "mehta-jewels",
                     *       "firm_name": "Mehta Jewels Pvt Ltd",
                     *       "environment": "test",
                     *       "key_id": "9f2c41d07ab8e356",
                     *       "key_name": "pricing engine",
                     *       "scopes": [
                     *         "account:read",
                     *         "orders:read",
                     *         "orders:write"
                     *       ],
                     *       "production_trading_available": false
                     *     }
                     */
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    me_production: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "login_id": "mehta-jewels",
                     *       "firm_name": "Mehta Jewels Pvt Ltd",
                     *       "environment": "production",
                     *       "key_id": "9f2c41d07ab8e356",
                     *       "key_name": "pricing engine",
                     *       "scopes": [
                     *         "account:read",
                     *         "orders:read",
                     *         "orders:write"
                     *       ],
                     *       "production_trading_available": false
                     *     }
                     */
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    list_orders_test: {
        parameters: {
            query?: {
                /**
                 * @description How many orders to show.
                 * @example 20
                 */
                limit?: number;
                /** @description How many of the newest to skip. Past the end the page is empty. */
                offset?: number;
                /** @description Only orders of this symbol. */
                symbol_code?: string;
                /** @description Only this side, `buy` or `sell`. */
                trade_type?: string;
                /**
                 * @description Only orders placed at this ISO 8601 time or later. Without a zone it is UTC, and a date alone is its midnight. Write a `+` as `%2B`.
                 * @example 2026-11-15T09:00:00+05:30
                 */
                since?: string;
                /** @description Only orders with exactly this name of yours. An extension: the API's specification does not have it. */
                client_order_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "01a1dd7c-8ad8-7e02-b7f6-30c2d5981e4a",
                     *           "environment": "test",
                     *           "symbol_code": "SILVER",
                     *           "trade_type": "sell",
                     *           "quantity": "2.0000",
                     *           "unit": "kg",
                     *           "price": "299854.00",
                     *           "total": "599708.00",
                     *           "status": "filled",
                     *           "client_order_id": null,
                     *           "created_at": "2026-11-15T04:34:49.176902+00:00",
                     *           "deal_label": "T-2"
                     *         },
                     *         {
                     *           "id": "01a1dd79-5ea2-7c31-8d52-6e1f0b94a7c3",
                     *           "environment": "test",
                     *           "symbol_code": "GOLD",
                     *           "trade_type": "buy",
                     *           "quantity": "100.0000",
                     *           "unit": "g",
                     *           "price": "150630.00",
                     *           "total": "1506300.00",
                     *           "status": "filled",
                     *           "client_order_id": "desk-7-0042",
                     *           "created_at": "2026-11-15T04:31:21.250417+00:00",
                     *           "deal_label": "T-1"
                     *         }
                     *       ],
                     *       "total": 2
                     *     }
                     */
                    "application/json": components["schemas"]["TestOrderList"];
                };
            };
        };
    };
    place_order_test: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Names this order among all orders of the account, whichever API key sends it. Make a new UUID for each order, and send the same one whenever you send that order again. Case matters, and a key is never forgotten.
                 * @example 5b0c1a52-6c1e-4f0e-9a53-0d9a7f3b2c11
                 */
                "Idempotency-Key": string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The order, as plain JSON in UTF-8, of 64 KiB at the most. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "symbol_code": "GOLD",
                 *       "trade_type": "buy",
                 *       "quantity": 100,
                 *       "client_order_id": "desk-7-0042"
                 *     }
                 */
                "application/json": components["schemas"]["PlaceOrder"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a1dd79-5ea2-7c31-8d52-6e1f0b94a7c3",
                     *       "environment": "test",
                     *       "symbol_code": "GOLD",
                     *       "trade_type": "buy",
                     *       "quantity": "100.0000",
                     *       "unit": "g",
                     *       "price": "150630.00",
                     *       "total": "1506300.00",
                     *       "status": "filled",
                     *       "client_order_id": "desk-7-0042",
                     *       "created_at": "2026-11-15T04:31:21.250417+00:00",
                     *       "deal_label": "T-1"
                     *     }
                     */
                    "application/json": components["schemas"]["TestOrder"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a1dd79-5ea2-7c31-8d52-6e1f0b94a7c3",
                     *       "environment": "test",
                     *       "symbol_code": "GOLD",
                     *       "trade_type": "buy",
                     *       "quantity": "100.0000",
                     *       "unit": "g",
                     *       "price": "150630.00",
                     *       "total": "1506300.00",
                     *       "status": "filled",
                     *       "client_order_id": "desk-7-0042",
                     *       "created_at": "2026-11-15T04:31:21.250417+00:00",
                     *       "deal_label": "T-1"
                     *     }
                     */
                    "application/json": components["schemas"]["TestOrder"];
                };
            };
        };
    };
    list_orders_production: {
        parameters: {
            query?: {
                /**
                 * @description How many orders to show.
                 * @example 20
                 */
                limit?: number;
                /** @description How many of the newest to skip. Past the end the page is empty. */
                offset?: number;
                /** @description Only orders of this symbol. */
                symbol_code?: string;
                /** @description Only this side, `buy` or `sell`. */
                trade_type?: string;
                /**
                 * @description Only orders placed at this ISO 8601 time or later. Without a zone it is UTC, and a date alone is its midnight. Write a `+` as `%2B`.
                 * @example 2026-11-15T09:00:00+05:30
                 */
                since?: string;
                /** @description Only orders with exactly this name of yours. An extension: the API's specification does not have it. */
                client_order_id?: string;
                /** @description Only orders in this state. `all` is every state but `deleted`, which has to be asked for by its name. */
                status?: "pending" | "open" | "closing" | "closed" | "rejected" | "deleted" | "all";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "01a1dd96-286e-74b9-a3d0-58e7c1f26b90",
                     *           "environment": "production",
                     *           "symbol_code": "GOLD",
                     *           "trade_type": "buy",
                     *           "quantity": "100.0000",
                     *           "unit": "g",
                     *           "price": "150630.00",
                     *           "total": "1506300.00",
                     *           "status": "open",
                     *           "client_order_id": "desk-7-0042",
                     *           "created_at": "2026-11-15T05:02:47.918306+00:00",
                     *           "deal_no": 48213,
                     *           "status_detail": "BOOKED",
                     *           "source": "api",
                     *           "close_price": null,
                     *           "realized_pnl": null,
                     *           "closed_at": null
                     *         },
                     *         {
                     *           "id": "01a1dd91-ec62-7d15-9c48-07b3ea62f5d1",
                     *           "environment": "production",
                     *           "symbol_code": "SILVER",
                     *           "trade_type": "sell",
                     *           "quantity": "2.0000",
                     *           "unit": "kg",
                     *           "price": "299854.00",
                     *           "total": "599708.00",
                     *           "status": "open",
                     *           "client_order_id": null,
                     *           "created_at": "2026-11-15T04:58:10.402771+00:00",
                     *           "deal_no": 48212,
                     *           "status_detail": "BOOKED",
                     *           "source": "web",
                     *           "close_price": null,
                     *           "realized_pnl": null,
                     *           "closed_at": null
                     *         },
                     *         {
                     *           "id": "01a1dd4e-3337-7a86-b2e9-c40d915f7e28",
                     *           "environment": "production",
                     *           "symbol_code": "GOLD",
                     *           "trade_type": "sell",
                     *           "quantity": "50.0000",
                     *           "unit": "g",
                     *           "price": "150313.00",
                     *           "total": "751565.00",
                     *           "status": "closed",
                     *           "client_order_id": null,
                     *           "created_at": "2026-11-15T03:44:12.087129+00:00",
                     *           "deal_no": 48190,
                     *           "status_detail": "SETTLED",
                     *           "source": "mobile",
                     *           "close_price": "150263.00",
                     *           "realized_pnl": "250.00",
                     *           "closed_at": "2026-11-15T04:26:55.310842+00:00"
                     *         }
                     *       ],
                     *       "total": 3
                     *     }
                     */
                    "application/json": components["schemas"]["ProductionOrderList"];
                };
            };
        };
    };
    place_order_production: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Names this order among all orders of the account, whichever API key sends it. Make a new UUID for each order, and send the same one whenever you send that order again. Case matters, and a key is never forgotten.
                 * @example 5b0c1a52-6c1e-4f0e-9a53-0d9a7f3b2c11
                 */
                "Idempotency-Key": string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The order, as plain JSON in UTF-8, of 64 KiB at the most. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "symbol_code": "GOLD",
                 *       "trade_type": "buy",
                 *       "quantity": 100,
                 *       "client_order_id": "desk-7-0042"
                 *     }
                 */
                "application/json": components["schemas"]["PlaceOrder"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a1dd96-286e-74b9-a3d0-58e7c1f26b90",
                     *       "environment": "production",
                     *       "symbol_code": "GOLD",
                     *       "trade_type": "buy",
                     *       "quantity": "100.0000",
                     *       "unit": "g",
                     *       "price": "150630.00",
                     *       "total": "1506300.00",
                     *       "status": "open",
                     *       "client_order_id": "desk-7-0042",
                     *       "created_at": "2026-11-15T05:02:47.918306+00:00",
                     *       "deal_no": 48213,
                     *       "status_detail": "BOOKED",
                     *       "source": "api",
                     *       "close_price": null,
                     *       "realized_pnl": null,
                     *       "closed_at": null
                     *     }
                     */
                    "application/json": components["schemas"]["ProductionOrder"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a1dd96-286e-74b9-a3d0-58e7c1f26b90",
                     *       "environment": "production",
                     *       "symbol_code": "GOLD",
                     *       "trade_type": "buy",
                     *       "quantity": "100.0000",
                     *       "unit": "g",
                     *       "price": "150630.00",
                     *       "total": "1506300.00",
                     *       "status": "open",
                     *       "client_order_id": "desk-7-0042",
                     *       "created_at": "2026-11-15T05:02:47.918306+00:00",
                     *       "deal_no": 48213,
                     *       "status_detail": "BOOKED",
                     *       "source": "api",
                     *       "close_price": null,
                     *       "realized_pnl": null,
                     *       "closed_at": null
                     *     }
                     */
                    "application/json": components["schemas"]["ProductionOrder"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a1dd96-286e-74b9-a3d0-58e7c1f26b90",
                     *       "environment": "production",
                     *       "symbol_code": "GOLD",
                     *       "trade_type": "buy",
                     *       "quantity": "100.0000",
                     *       "unit": "g",
                     *       "price": null,
                     *       "total": null,
                     *       "status": "pending",
                     *       "client_order_id": "desk-7-0042",
                     *       "created_at": "2026-11-15T05:02:47.918306+00:00",
                     *       "deal_no": null,
                     *       "status_detail": "HEDGE_WAIT",
                     *       "source": "api",
                     *       "close_price": null,
                     *       "realized_pnl": null,
                     *       "closed_at": null
                     *     }
                     */
                    "application/json": components["schemas"]["ProductionOrder"];
                };
            };
        };
    };
    read_order_test: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The order's `id`. Anything that is no UUID is not found.
                 * @example 01a1dd79-5ea2-7c31-8d52-6e1f0b94a7c3
                 */
                order_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a1dd79-5ea2-7c31-8d52-6e1f0b94a7c3",
                     *       "environment": "test",
                     *       "symbol_code": "GOLD",
                     *       "trade_type": "buy",
                     *       "quantity": "100.0000",
                     *       "unit": "g",
                     *       "price": "150630.00",
                     *       "total": "1506300.00",
                     *       "status": "filled",
                     *       "client_order_id": "desk-7-0042",
                     *       "created_at": "2026-11-15T04:31:21.250417+00:00",
                     *       "deal_label": "T-1"
                     *     }
                     */
                    "application/json": components["schemas"]["TestOrder"];
                };
            };
        };
    };
    read_order_production: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The order's `id`. Anything that is no UUID is not found.
                 * @example 01a1dd96-286e-74b9-a3d0-58e7c1f26b90
                 */
                order_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a1dd96-286e-74b9-a3d0-58e7c1f26b90",
                     *       "environment": "production",
                     *       "symbol_code": "GOLD",
                     *       "trade_type": "buy",
                     *       "quantity": "100.0000",
                     *       "unit": "g",
                     *       "price": "150630.00",
                     *       "total": "1506300.00",
                     *       "status": "open",
                     *       "client_order_id": "desk-7-0042",
                     *       "created_at": "2026-11-15T05:02:47.918306+00:00",
                     *       "deal_no": 48213,
                     *       "status_detail": "BOOKED",
                     *       "source": "api",
                     *       "close_price": null,
                     *       "realized_pnl": null,
                     *       "closed_at": null
                     *     }
                     */
                    "application/json": components["schemas"]["ProductionOrder"];
                };
            };
        };
    };
    positions_test: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "gold": {
                     *         "net": "100.0000",
                     *         "limit": "1000.0000",
                     *         "used": "100.0000",
                     *         "free": "900.0000",
                     *         "unit": "g"
                     *       },
                     *       "silver": {
                     *         "net": "-2.0000",
                     *         "limit": "50.0000",
                     *         "used": "2.0000",
                     *         "free": "48.0000",
                     *         "unit": "kg"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TestPositions"];
                };
            };
        };
    };
    positions_production: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "gold": {
                     *         "net": "100.0000",
                     *         "limit": "1000.0000",
                     *         "used": "100.0000",
                     *         "free": "900.0000",
                     *         "unit": "g"
                     *       },
                     *       "silver": {
                     *         "net": "-2.0000",
                     *         "limit": "50.0000",
                     *         "used": "2.0000",
                     *         "free": "48.0000",
                     *         "unit": "kg"
                     *       },
                     *       "symbols": [
                     *         {
                     *           "symbol_code": "GOLD",
                     *           "metal": "gold",
                     *           "buy": "100.0000",
                     *           "sell": "0.0000",
                     *           "net": "100.0000",
                     *           "unit": "g"
                     *         },
                     *         {
                     *           "symbol_code": "SILVER",
                     *           "metal": "silver",
                     *           "buy": "0.0000",
                     *           "sell": "2.0000",
                     *           "net": "-2.0000",
                     *           "unit": "kg"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ProductionPositions"];
                };
            };
        };
    };
    symbols_test: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "symbol_code": "GOLD",
                     *           "metal": "gold",
                     *           "unit": "g",
                     *           "quoted_weight": "10.0000",
                     *           "minimum": "1.0000",
                     *           "maximum": "10000.0000",
                     *           "step": "1.0000",
                     *           "sides": [
                     *             "buy",
                     *             "sell"
                     *           ],
                     *           "trading": true
                     *         },
                     *         {
                     *           "symbol_code": "SILVER",
                     *           "metal": "silver",
                     *           "unit": "kg",
                     *           "quoted_weight": "1.0000",
                     *           "minimum": "1.0000",
                     *           "maximum": "500.0000",
                     *           "step": "1.0000",
                     *           "sides": [
                     *             "buy",
                     *             "sell"
                     *           ],
                     *           "trading": true
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Symbols"];
                };
            };
        };
    };
    symbols_production: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "symbol_code": "GOLD",
                     *           "metal": "gold",
                     *           "unit": "g",
                     *           "quoted_weight": "10.0000",
                     *           "minimum": "1.0000",
                     *           "maximum": "10000.0000",
                     *           "step": "1.0000",
                     *           "sides": [
                     *             "buy",
                     *             "sell"
                     *           ],
                     *           "trading": true
                     *         },
                     *         {
                     *           "symbol_code": "SILVER",
                     *           "metal": "silver",
                     *           "unit": "kg",
                     *           "quoted_weight": "1.0000",
                     *           "minimum": "1.0000",
                     *           "maximum": "500.0000",
                     *           "step": "1.0000",
                     *           "sides": [
                     *             "buy",
                     *             "sell"
                     *           ],
                     *           "trading": true
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Symbols"];
                };
            };
        };
    };
    quotes_test: {
        parameters: {
            query?: {
                /** @description Only the quote of this symbol. */
                symbol_code?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "symbol_code": "GOLD",
                     *           "buy": "150630.00",
                     *           "sell": "150313.00",
                     *           "at": "2026-11-15T04:31:20.904118+00:00",
                     *           "tradable": true,
                     *           "reason": null
                     *         },
                     *         {
                     *           "symbol_code": "SILVER",
                     *           "buy": "300185.00",
                     *           "sell": "299854.00",
                     *           "at": "2026-11-15T04:29:02.310655+00:00",
                     *           "tradable": false,
                     *           "reason": "stale_rate"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Quotes"];
                };
            };
        };
    };
    quotes_production: {
        parameters: {
            query?: {
                /** @description Only the quote of this symbol. */
                symbol_code?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "symbol_code": "GOLD",
                     *           "buy": "150630.00",
                     *           "sell": "150313.00",
                     *           "at": "2026-11-15T04:31:20.904118+00:00",
                     *           "tradable": true,
                     *           "reason": null
                     *         },
                     *         {
                     *           "symbol_code": "SILVER",
                     *           "buy": "300185.00",
                     *           "sell": "299854.00",
                     *           "at": "2026-11-15T04:29:02.310655+00:00",
                     *           "tradable": false,
                     *           "reason": "stale_rate"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Quotes"];
                };
            };
        };
    };
    stream_quotes_test: {
        parameters: {
            query?: {
                /** @description Only the quote of this symbol. */
                symbol_code?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "event": "quote",
                     *       "data": "{\"symbol_code\": \"GOLD\", \"buy\": \"150630.00\", \"sell\": \"150313.00\", \"at\": \"2026-11-15T04:31:20.904118+00:00\", \"tradable\": true, \"reason\": null}"
                     *     }
                     */
                    "text/event-stream": {
                        /** @description Where the stream stands. */
                        id?: string;
                        /** @description The type of the event. */
                        event?: string;
                        data?: string;
                        /** @description Milliseconds to wait before connecting again. */
                        retry?: number;
                    };
                };
            };
        };
    };
    stream_quotes_production: {
        parameters: {
            query?: {
                /** @description Only the quote of this symbol. */
                symbol_code?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "event": "quote",
                     *       "data": "{\"symbol_code\": \"GOLD\", \"buy\": \"150630.00\", \"sell\": \"150313.00\", \"at\": \"2026-11-15T04:31:20.904118+00:00\", \"tradable\": true, \"reason\": null}"
                     *     }
                     */
                    "text/event-stream": {
                        /** @description Where the stream stands. */
                        id?: string;
                        /** @description The type of the event. */
                        event?: string;
                        data?: string;
                        /** @description Milliseconds to wait before connecting again. */
                        retry?: number;
                    };
                };
            };
        };
    };
    events_test: {
        parameters: {
            query?: {
                /** @description Only events with a larger number. Without it: from the oldest that is kept. */
                after?: number;
                /**
                 * @description How many events to show.
                 * @example 20
                 */
                limit?: number;
                /** @description If there is nothing to show: for how many seconds to wait for the next event. */
                wait?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "evt_5f0c2b8e94d14c02a6f0a1c7e3b95d11",
                     *           "number": 17,
                     *           "type": "order.created",
                     *           "timestamp": "2026-11-15T04:31:21.250417+00:00",
                     *           "environment": "test",
                     *           "data": {
                     *             "id": "01a1dd79-5ea2-7c31-8d52-6e1f0b94a7c3",
                     *             "environment": "test",
                     *             "symbol_code": "GOLD",
                     *             "trade_type": "buy",
                     *             "quantity": "100.0000",
                     *             "unit": "g",
                     *             "price": "150630.00",
                     *             "total": "1506300.00",
                     *             "status": "filled",
                     *             "client_order_id": "desk-7-0042",
                     *             "created_at": "2026-11-15T04:31:21.250417+00:00",
                     *             "deal_label": "T-1"
                     *           }
                     *         }
                     *       ],
                     *       "next_after": 17,
                     *       "has_more": false
                     *     }
                     */
                    "application/json": components["schemas"]["TestEventList"];
                };
            };
        };
    };
    events_production: {
        parameters: {
            query?: {
                /** @description Only events with a larger number. Without it: from the oldest that is kept. */
                after?: number;
                /**
                 * @description How many events to show.
                 * @example 20
                 */
                limit?: number;
                /** @description If there is nothing to show: for how many seconds to wait for the next event. */
                wait?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "evt_5f0c2b8e94d14c02a6f0a1c7e3b95d11",
                     *           "number": 17,
                     *           "type": "order.opened",
                     *           "timestamp": "2026-11-15T04:31:21.250417+00:00",
                     *           "environment": "production",
                     *           "data": {
                     *             "id": "01a1dd96-286e-74b9-a3d0-58e7c1f26b90",
                     *             "environment": "production",
                     *             "symbol_code": "GOLD",
                     *             "trade_type": "buy",
                     *             "quantity": "100.0000",
                     *             "unit": "g",
                     *             "price": "150630.00",
                     *             "total": "1506300.00",
                     *             "status": "open",
                     *             "client_order_id": "desk-7-0042",
                     *             "created_at": "2026-11-15T05:02:47.918306+00:00",
                     *             "deal_no": 48213,
                     *             "status_detail": "BOOKED",
                     *             "source": "api",
                     *             "close_price": null,
                     *             "realized_pnl": null,
                     *             "closed_at": null
                     *           }
                     *         }
                     *       ],
                     *       "next_after": 17,
                     *       "has_more": false
                     *     }
                     */
                    "application/json": components["schemas"]["ProductionEventList"];
                };
            };
        };
    };
    stream_events_test: {
        parameters: {
            query?: {
                /** @description The stream goes on after this number. Without it: with what happens from now on. */
                after?: number;
            };
            header?: {
                /** @description The number of the last event that you have: the stream goes on after it. Browsers send it by themselves when they connect again. It counts more than `after`. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "17",
                     *       "event": "order.created",
                     *       "data": "{\"id\": \"evt_5f0c2b8e94d14c02a6f0a1c7e3b95d11\", \"number\": 17, \"type\": \"order.created\", \"timestamp\": \"2026-11-15T04:31:21.250417+00:00\", \"environment\": \"test\", \"data\": {\"id\": \"01a1dd79-5ea2-7c31-8d52-6e1f0b94a7c3\", \"environment\": \"test\", \"symbol_code\": \"GOLD\", \"trade_type\": \"buy\", \"quantity\": \"100.0000\", \"unit\": \"g\", \"price\": \"150630.00\", \"total\": \"1506300.00\", \"status\": \"filled\", \"client_order_id\": \"desk-7-0042\", \"created_at\": \"2026-11-15T04:31:21.250417+00:00\", \"deal_label\": \"T-1\"}}"
                     *     }
                     */
                    "text/event-stream": {
                        /** @description Where the stream stands. */
                        id?: string;
                        /** @description The type of the event. */
                        event?: string;
                        data?: string;
                        /** @description Milliseconds to wait before connecting again. */
                        retry?: number;
                    };
                };
            };
        };
    };
    stream_events_production: {
        parameters: {
            query?: {
                /** @description The stream goes on after this number. Without it: with what happens from now on. */
                after?: number;
            };
            header?: {
                /** @description The number of the last event that you have: the stream goes on after it. Browsers send it by themselves when they connect again. It counts more than `after`. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "17",
                     *       "event": "order.opened",
                     *       "data": "{\"id\": \"evt_5f0c2b8e94d14c02a6f0a1c7e3b95d11\", \"number\": 17, \"type\": \"order.opened\", \"timestamp\": \"2026-11-15T04:31:21.250417+00:00\", \"environment\": \"production\", \"data\": {\"id\": \"01a1dd96-286e-74b9-a3d0-58e7c1f26b90\", \"environment\": \"production\", \"symbol_code\": \"GOLD\", \"trade_type\": \"buy\", \"quantity\": \"100.0000\", \"unit\": \"g\", \"price\": \"150630.00\", \"total\": \"1506300.00\", \"status\": \"open\", \"client_order_id\": \"desk-7-0042\", \"created_at\": \"2026-11-15T05:02:47.918306+00:00\", \"deal_no\": 48213, \"status_detail\": \"BOOKED\", \"source\": \"api\", \"close_price\": null, \"realized_pnl\": null, \"closed_at\": null}}"
                     *     }
                     */
                    "text/event-stream": {
                        /** @description Where the stream stands. */
                        id?: string;
                        /** @description The type of the event. */
                        event?: string;
                        data?: string;
                        /** @description Milliseconds to wait before connecting again. */
                        retry?: number;
                    };
                };
            };
        };
    };
    list_webhooks_test: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "wh_5d1f0a6c9be2774301c85e92",
                     *           "url": "https://hooks.example.com/bullion",
                     *           "types": [
                     *             "order.opened",
                     *             "order.closed"
                     *           ],
                     *           "description": "order book of the back office",
                     *           "environment": "test",
                     *           "enabled": true,
                     *           "disabled_reason": null,
                     *           "disabled_at": null,
                     *           "created_at": "2026-11-15T04:31:21.250417+00:00",
                     *           "delivered_through": 17,
                     *           "newest": 17,
                     *           "tries": 0,
                     *           "failing_since": null,
                     *           "next_try_at": null,
                     *           "last_delivered_at": "2026-11-15T04:35:02.114207+00:00",
                     *           "previous_secret_until": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookList"];
                };
            };
        };
    };
    create_webhook_test: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://hooks.example.com/bullion",
                 *       "types": [
                 *         "order.opened",
                 *         "order.closed"
                 *       ],
                 *       "description": "order book of the back office"
                 *     }
                 */
                "application/json": components["schemas"]["CreateWebhook"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "wh_5d1f0a6c9be2774301c85e92",
                     *       "url": "https://hooks.example.com/bullion",
                     *       "types": [
                     *         "order.opened",
                     *         "order.closed"
                     *       ],
                     *       "description": "order book of the back office",
                     *       "environment": "test",
                     *       "enabled": true,
                     *       "disabled_reason": null,
                     *       "disabled_at": null,
                     *       "created_at": "2026-11-15T04:31:21.250417+00:00",
                     *       "delivered_through": 17,
                     *       "newest": 17,
                     *       "tries": 0,
                     *       "failing_since": null,
                     *       "next_try_at": null,
                     *       "last_delivered_at": "2026-11-15T04:35:02.114207+00:00",
                     *       "previous_secret_until": null,
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
        };
    };
    list_webhooks_production: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "wh_5d1f0a6c9be2774301c85e92",
                     *           "url": "https://hooks.example.com/bullion",
                     *           "types": [
                     *             "order.opened",
                     *             "order.closed"
                     *           ],
                     *           "description": "order book of the back office",
                     *           "environment": "test",
                     *           "enabled": true,
                     *           "disabled_reason": null,
                     *           "disabled_at": null,
                     *           "created_at": "2026-11-15T04:31:21.250417+00:00",
                     *           "delivered_through": 17,
                     *           "newest": 17,
                     *           "tries": 0,
                     *           "failing_since": null,
                     *           "next_try_at": null,
                     *           "last_delivered_at": "2026-11-15T04:35:02.114207+00:00",
                     *           "previous_secret_until": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookList"];
                };
            };
        };
    };
    create_webhook_production: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://hooks.example.com/bullion",
                 *       "types": [
                 *         "order.opened",
                 *         "order.closed"
                 *       ],
                 *       "description": "order book of the back office"
                 *     }
                 */
                "application/json": components["schemas"]["CreateWebhook"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "wh_5d1f0a6c9be2774301c85e92",
                     *       "url": "https://hooks.example.com/bullion",
                     *       "types": [
                     *         "order.opened",
                     *         "order.closed"
                     *       ],
                     *       "description": "order book of the back office",
                     *       "environment": "production",
                     *       "enabled": true,
                     *       "disabled_reason": null,
                     *       "disabled_at": null,
                     *       "created_at": "2026-11-15T04:31:21.250417+00:00",
                     *       "delivered_through": 17,
                     *       "newest": 17,
                     *       "tries": 0,
                     *       "failing_since": null,
                     *       "next_try_at": null,
                     *       "last_delivered_at": "2026-11-15T04:35:02.114207+00:00",
                     *       "previous_secret_until": null,
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
        };
    };
    read_webhook_test: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook's `id`.
                 * @example wh_5d1f0a6c9be2774301c85e92
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "wh_5d1f0a6c9be2774301c85e92",
                     *       "url": "https://hooks.example.com/bullion",
                     *       "types": [
                     *         "order.opened",
                     *         "order.closed"
                     *       ],
                     *       "description": "order book of the back office",
                     *       "environment": "test",
                     *       "enabled": true,
                     *       "disabled_reason": null,
                     *       "disabled_at": null,
                     *       "created_at": "2026-11-15T04:31:21.250417+00:00",
                     *       "delivered_through": 17,
                     *       "newest": 17,
                     *       "tries": 0,
                     *       "failing_since": null,
                     *       "next_try_at": null,
                     *       "last_delivered_at": "2026-11-15T04:35:02.114207+00:00",
                     *       "previous_secret_until": null
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookStatus"];
                };
            };
        };
    };
    delete_webhook_test: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook's `id`.
                 * @example wh_5d1f0a6c9be2774301c85e92
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "wh_5d1f0a6c9be2774301c85e92",
                     *       "deleted": true
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedWebhook"];
                };
            };
        };
    };
    change_webhook_test: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook's `id`.
                 * @example wh_5d1f0a6c9be2774301c85e92
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "enabled": true
                 *     }
                 */
                "application/json": components["schemas"]["ChangeWebhook"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "wh_5d1f0a6c9be2774301c85e92",
                     *       "url": "https://hooks.example.com/bullion",
                     *       "types": [
                     *         "order.opened",
                     *         "order.closed"
                     *       ],
                     *       "description": "order book of the back office",
                     *       "environment": "test",
                     *       "enabled": true,
                     *       "disabled_reason": null,
                     *       "disabled_at": null,
                     *       "created_at": "2026-11-15T04:31:21.250417+00:00",
                     *       "delivered_through": 17,
                     *       "newest": 17,
                     *       "tries": 0,
                     *       "failing_since": null,
                     *       "next_try_at": null,
                     *       "last_delivered_at": "2026-11-15T04:35:02.114207+00:00",
                     *       "previous_secret_until": null
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookStatus"];
                };
            };
        };
    };
    read_webhook_production: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook's `id`.
                 * @example wh_5d1f0a6c9be2774301c85e92
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "wh_5d1f0a6c9be2774301c85e92",
                     *       "url": "https://hooks.example.com/bullion",
                     *       "types": [
                     *         "order.opened",
                     *         "order.closed"
                     *       ],
                     *       "description": "order book of the back office",
                     *       "environment": "production",
                     *       "enabled": true,
                     *       "disabled_reason": null,
                     *       "disabled_at": null,
                     *       "created_at": "2026-11-15T04:31:21.250417+00:00",
                     *       "delivered_through": 17,
                     *       "newest": 17,
                     *       "tries": 0,
                     *       "failing_since": null,
                     *       "next_try_at": null,
                     *       "last_delivered_at": "2026-11-15T04:35:02.114207+00:00",
                     *       "previous_secret_until": null
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookStatus"];
                };
            };
        };
    };
    delete_webhook_production: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook's `id`.
                 * @example wh_5d1f0a6c9be2774301c85e92
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "wh_5d1f0a6c9be2774301c85e92",
                     *       "deleted": true
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedWebhook"];
                };
            };
        };
    };
    change_webhook_production: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook's `id`.
                 * @example wh_5d1f0a6c9be2774301c85e92
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "enabled": true
                 *     }
                 */
                "application/json": components["schemas"]["ChangeWebhook"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "wh_5d1f0a6c9be2774301c85e92",
                     *       "url": "https://hooks.example.com/bullion",
                     *       "types": [
                     *         "order.opened",
                     *         "order.closed"
                     *       ],
                     *       "description": "order book of the back office",
                     *       "environment": "production",
                     *       "enabled": true,
                     *       "disabled_reason": null,
                     *       "disabled_at": null,
                     *       "created_at": "2026-11-15T04:31:21.250417+00:00",
                     *       "delivered_through": 17,
                     *       "newest": 17,
                     *       "tries": 0,
                     *       "failing_since": null,
                     *       "next_try_at": null,
                     *       "last_delivered_at": "2026-11-15T04:35:02.114207+00:00",
                     *       "previous_secret_until": null
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookStatus"];
                };
            };
        };
    };
    rotate_webhook_test: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook's `id`.
                 * @example wh_5d1f0a6c9be2774301c85e92
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "wh_5d1f0a6c9be2774301c85e92",
                     *       "url": "https://hooks.example.com/bullion",
                     *       "types": [
                     *         "order.opened",
                     *         "order.closed"
                     *       ],
                     *       "description": "order book of the back office",
                     *       "environment": "test",
                     *       "enabled": true,
                     *       "disabled_reason": null,
                     *       "disabled_at": null,
                     *       "created_at": "2026-11-15T04:31:21.250417+00:00",
                     *       "delivered_through": 17,
                     *       "newest": 17,
                     *       "tries": 0,
                     *       "failing_since": null,
                     *       "next_try_at": null,
                     *       "last_delivered_at": "2026-11-15T04:35:02.114207+00:00",
                     *       "previous_secret_until": null,
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
        };
    };
    rotate_webhook_production: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook's `id`.
                 * @example wh_5d1f0a6c9be2774301c85e92
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "wh_5d1f0a6c9be2774301c85e92",
                     *       "url": "https://hooks.example.com/bullion",
                     *       "types": [
                     *         "order.opened",
                     *         "order.closed"
                     *       ],
                     *       "description": "order book of the back office",
                     *       "environment": "production",
                     *       "enabled": true,
                     *       "disabled_reason": null,
                     *       "disabled_at": null,
                     *       "created_at": "2026-11-15T04:31:21.250417+00:00",
                     *       "delivered_through": 17,
                     *       "newest": 17,
                     *       "tries": 0,
                     *       "failing_since": null,
                     *       "next_try_at": null,
                     *       "last_delivered_at": "2026-11-15T04:35:02.114207+00:00",
                     *       "previous_secret_until": null,
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
        };
    };
    test_webhook_test: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook's `id`.
                 * @example wh_5d1f0a6c9be2774301c85e92
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "delivered": true,
                     *       "status": 200,
                     *       "duration_ms": 41,
                     *       "error": null,
                     *       "response": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookReceipt"];
                };
            };
        };
    };
    test_webhook_production: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook's `id`.
                 * @example wh_5d1f0a6c9be2774301c85e92
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "delivered": true,
                     *       "status": 200,
                     *       "duration_ms": 41,
                     *       "error": null,
                     *       "response": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookReceipt"];
                };
            };
        };
    };
    webhook_attempts_test: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook's `id`.
                 * @example wh_5d1f0a6c9be2774301c85e92
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "delivered": true,
                     *           "status": 200,
                     *           "duration_ms": 41,
                     *           "error": null,
                     *           "response": "ok",
                     *           "event_id": "evt_5f0c2b8e94d14c02a6f0a1c7e3b95d11",
                     *           "number": 17,
                     *           "type": "order.opened",
                     *           "at": "2026-11-15T04:35:02.114207+00:00"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookAttemptList"];
                };
            };
        };
    };
    webhook_attempts_production: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook's `id`.
                 * @example wh_5d1f0a6c9be2774301c85e92
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "delivered": true,
                     *           "status": 200,
                     *           "duration_ms": 41,
                     *           "error": null,
                     *           "response": "ok",
                     *           "event_id": "evt_5f0c2b8e94d14c02a6f0a1c7e3b95d11",
                     *           "number": 17,
                     *           "type": "order.opened",
                     *           "at": "2026-11-15T04:35:02.114207+00:00"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookAttemptList"];
                };
            };
        };
    };
    dead_webhook_events_test: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook's `id`.
                 * @example wh_5d1f0a6c9be2774301c85e92
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "event_id": "evt_5f0c2b8e94d14c02a6f0a1c7e3b95d11",
                     *           "number": 17,
                     *           "type": "order.opened",
                     *           "given_up_at": "2026-11-18T05:35:02.114207+00:00",
                     *           "tries": 19,
                     *           "error": "The receiver answered 500.",
                     *           "replaying": false
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["DeadEventList"];
                };
            };
        };
    };
    dead_webhook_events_production: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook's `id`.
                 * @example wh_5d1f0a6c9be2774301c85e92
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "event_id": "evt_5f0c2b8e94d14c02a6f0a1c7e3b95d11",
                     *           "number": 17,
                     *           "type": "order.opened",
                     *           "given_up_at": "2026-11-18T05:35:02.114207+00:00",
                     *           "tries": 19,
                     *           "error": "The receiver answered 500.",
                     *           "replaying": false
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["DeadEventList"];
                };
            };
        };
    };
    replay_webhook_test: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook's `id`.
                 * @example wh_5d1f0a6c9be2774301c85e92
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "number": 17
                 *     }
                 */
                "application/json": components["schemas"]["ReplayWebhook"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "replaying": 1
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookReplay"];
                };
            };
        };
    };
    replay_webhook_production: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook's `id`.
                 * @example wh_5d1f0a6c9be2774301c85e92
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "number": 17
                 *     }
                 */
                "application/json": components["schemas"]["ReplayWebhook"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "replaying": 1
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookReplay"];
                };
            };
        };
    };
    live: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "live": true
                     *     }
                     */
                    "application/json": components["schemas"]["Liveness"];
                };
            };
        };
    };
    ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ready": true,
                     *       "store": true,
                     *       "schema": true,
                     *       "catalogue": true
                     *     }
                     */
                    "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    description: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "openapi": "3.1.0",
                     *       "info": {
                     *         "title": "…",
                     *         "version": "…"
                     *       },
                     *       "paths": {}
                     *     }
                     */
                    "application/json": components["schemas"]["Description"];
                };
            };
        };
    };
}
