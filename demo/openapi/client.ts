/** Calls tools over plain HTTP, with types that are generated from the description of the endpoint. */
import createClient from "openapi-fetch";
import type { paths } from "./api.d.ts";

const { BASE_URL: baseUrl = "", KEY = "" } = process.env;
const client = createClient<paths>({ baseUrl, headers: { "x-api-key": KEY } });

const weather = await client.POST("/demo__get-structured-content", { body: { location: "Chicago" } });
if (!weather.data) throw new Error(JSON.stringify(weather.error));
const { temperature, conditions } = weather.data;
console.log(`${temperature.toFixed(1)} degrees, ${conditions.toLowerCase()}`);

const sum = await client.POST("/demo__get-sum", { body: { a: 40, b: 2 } });
console.log(`sum: ${sum.response.status}`);

// @ts-expect-error: the type check finds invalid arguments.
const wrong = await client.POST("/demo__get-structured-content", { body: { location: 7 } });
console.log(`wrong: ${wrong.response.status} ${wrong.error?.code}`);

// @ts-expect-error: the type check finds unknown tools.
await client.POST("/demo__nothing", { body: {} });
