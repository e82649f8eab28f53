// The service that the tests call, and networks that lose what they carry.

import { BullionClient } from "../dist/index.js";

const given = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: give the address and a test key of a demo`);
  return value;
};

export const baseUrl = given("BULLION_BASE_URL");
export const apiKey = given("BULLION_API_KEY");

export function client(options = {}) {
  return new BullionClient({ baseUrl, apiKey, environment: "test", ...options });
}

/** Carries calls to the service, but for the first so many orders the answer is lost. `keys` are those sent. */
export function losing(answers) {
  const keys = [];
  const carry = async (url, init) => {
    const response = await fetch(url, init);
    if (init.method !== "POST") return response;
    keys.push(init.headers["Idempotency-Key"]);
    if (keys.length > answers) return response;
    await response.arrayBuffer();
    throw new TypeError("the connection broke");
  };
  return { fetch: carry, keys };
}

/** Asks for these scenarios, one with each order, until there are none left. */
export function playing(...scenarios) {
  const keys = [];
  const carry = (url, init) => {
    keys.push(init.headers["Idempotency-Key"]);
    const scenario = scenarios.shift();
    const headers = scenario ? { ...init.headers, "X-Bullion-Scenario": scenario } : init.headers;
    return fetch(url, { ...init, headers });
  };
  return { fetch: carry, keys };
}
