/** The layers that config files name, for this process: what judged a file composes what is in it. */
import type { Settings } from "../config/flags.ts";
import { ConfigLayers } from "../config-layers.ts";
import { systemClock } from "../system-clock.ts";

let layers: ConfigLayers | undefined;

export function configLayers({ middlewareDir }: Pick<Settings, "middlewareDir">): ConfigLayers {
  layers ??= new ConfigLayers(systemClock, middlewareDir);
  return layers;
}
