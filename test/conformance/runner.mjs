// Runs the command line of the official suite again and again in one process, because loading what it imports
// takes longer than most scenarios. Gets the arguments of each run as a message, and answers when it has ended.
import { pathToFileURL } from "node:url";

const suite = process.argv[2];
const { exit } = process;

class Ended extends Error {}

let end = () => {};
process.exit = () => {
  end();
  throw new Ended();
};
process.on("unhandledRejection", (error) => {
  if (!(error instanceof Ended)) throw error;
});

let runs = 0;
async function run(args) {
  process.argv = [process.execPath, suite, ...args];
  const ended = new Promise((resolve) => {
    end = resolve;
  });
  await import(`${pathToFileURL(suite)}?${runs++}`).catch((error) => {
    if (!(error instanceof Ended)) throw error;
  });
  await ended;
  process.send("ended");
}
process.on("message", (args) => void run(args));
process.on("disconnect", () => exit());
