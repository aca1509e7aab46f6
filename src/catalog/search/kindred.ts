/** Words that mean nearly the same when people talk about tools. Small, hand-made, and on purpose without verbs of every day. */
import { stem } from "./stem.ts";

const GROUPS =
  "folder directory|repo repository|picture photo image|movie film|email mail inbox|url link website webpage site|" +
  "chart graph plot diagram visualization|stock share equity ticker|weather forecast climate|address location place|" +
  "coordinates geocode latitude longitude|route direction navigation|trip travel journey itinerary|flight airline airport|" +
  "hotel accommodation lodging|restaurant dining|recipe dish meal cook|song music track|job career employment vacancy|" +
  "news headline|summarize summary abstract|calculate compute math arithmetic|person user member|" +
  "meeting appointment calendar|task todo|bug issue ticket|code script program|execute run launch|terminate kill stop|" +
  "database db|save write|record row entry|column field attribute|paper publication research scholarly academic|book novel ebook|" +
  "doctor medical health|workout exercise fitness|car vehicle automobile|house property estate|money currency cash|" +
  "crypto cryptocurrency bitcoin coin|vocabulary dictionary definition|company business firm|nearby near around close|" +
  "screenshot snapshot|click press tap|browser tab|comment reply remark note|copy duplicate|attach attachment upload|" +
  "compress zip archive|spreadsheet excel sheet xlsx|slide presentation powerpoint ppt deck|purchase buy shop shopping|" +
  "price cost fee|discount coupon deal|video youtube clip|language translate translation|quiz question trivia|joke humor funny|" +
  "log history trace|secret password credential|cluster kubernetes|pod container|chat conversation|channel room|" +
  "subject topic theme|keyword hashtag tag label|phone telephone mobile|text sms message|country nation|city town|" +
  "sentence phrase text|tax taxation|loan mortgage|invoice bill receipt|delivery shipping shipment package parcel tracking|" +
  "plant garden|pet dog cat animal|gift present|fashion clothes clothing outfit|course lesson tutorial class learn|" +
  "school university college|lawyer legal law|insurance policy|astrology horoscope zodiac|tarot|lyrics song|" +
  "podcast episode|actor cast celebrity|team club|match game fixture|player athlete|league tournament competition|" +
  "wallpaper background|logo brand icon|color colour|font typeface|ad advertisement advertising campaign|" +
  "seo keyword ranking|domain dns hostname|ip address|qr barcode|resume cv|essay article|poem poetry|story tale|" +
  "speed performance latency|error exception failure|element component node|form input|line row|paragraph text|" +
  "collection table|query sql|schema structure|key identifier id|session login|account profile|review rating feedback|" +
  "holiday vacation|event concert festival|ticket booking reservation book|parking car|distance far|area size|interest mortgage";

const NONE: readonly string[] = [];
const KIN = new Map<string, string[]>();
for (const group of GROUPS.split("|")) {
  const stems = group.split(" ").map(stem);
  for (const one of stems) {
    KIN.set(one, [...new Set([...(KIN.get(one) ?? []), ...stems.filter((other) => other !== one)])]);
  }
}

/** Stems of the words that may stand in for this one. */
export function kinOf(word: string): readonly string[] {
  return KIN.get(stem(word)) ?? NONE;
}
