/**
 * The layers for config files, one instance per process: the instance that checks a file must also build its
 * layers.
 */
import type { Settings } from "../config/flags.ts";
import { ConfigLayers } from "../engine/config-layers.ts";
import { systemClock } from "../engine/system-clock.ts";

let layers: ConfigLayers | undefined;

export function configLayers({ middlewareDir }: Pick<Settings, "middlewareDir">): ConfigLayers {
  layers ??= new ConfigLayers(systemClock, middlewareDir);
  return layers;
}
