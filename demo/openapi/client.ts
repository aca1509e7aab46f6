/** Calls tools over plain HTTP with a client whose types were generated from the endpoint's description. */
import createClient from "openapi-fetch";
import type { paths } from "./api.d.ts";

const { BASE_URL: baseUrl = "", KEY = "" } = process.env;
const client = createClient<paths>({ baseUrl, headers: { "x-api-key": KEY } });

const weather = await client.POST("/demo__get-structured-content", { body: { location: "Chicago" } });
if (!weather.data) throw new Error(JSON.stringify(weather.error));
const { temperature, conditions } = weather.data;
console.log(`${temperature.toFixed(1)} degrees, ${conditions.toLowerCase()}`);

const read = await client.GET("/demo__get-sum", { params: { query: { a: 40, b: 2 } } });
console.log(`get: ${read.response.status}`);

// @ts-expect-error: arguments that do not fit are found before the program runs.
const wrong = await client.POST("/demo__get-structured-content", { body: { location: 7 } });
console.log(`wrong: ${wrong.response.status} ${wrong.error?.code}`);

// @ts-expect-error: and so are tools that are not there.
await client.POST("/demo__nothing", { body: {} });
