import { LocalPlaces } from "./local-places.ts";
import { placesContract } from "./places.contract.ts";

placesContract("a process that is alone", (most) => [new LocalPlaces(() => most)]);
