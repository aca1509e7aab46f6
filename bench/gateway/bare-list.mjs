// Answers every POST with the bytes of a file. This is the lower bound for sending a list with node:http.
// Usage: bare-list.mjs TYPE FILE…   prints its URL; the header x-page says which file.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const [type, ...files] = process.argv.slice(2);
const pages = files.map((file) => readFileSync(file));
const server = createServer((request, response) => {
  request.resume().on("end", () => {
    const page = pages[Number(request.headers["x-page"])];
    response.writeHead(200, { "content-type": type, "content-length": page.length }).end(page);
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
