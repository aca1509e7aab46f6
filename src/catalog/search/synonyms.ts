/**
 * Synonyms in questions about tools: a small list, written by hand. Common verbs like "get" and "make" are
 * left out on purpose.
 */
import { stem } from "./stem.ts";

const GROUPS =
  "folder directory|repo repository|picture photo image|movie film|email mail inbox|" +
  "url link website webpage site|chart graph plot diagram visualization|stock equity ticker|" +
  "weather forecast climate|address location place|coordinates geocode latitude longitude|" +
  "route direction navigation|trip travel journey itinerary|flight airline airport|" +
  "hotel accommodation lodging|restaurant dining|recipe dish meal cook|song music|" +
  "job career employment vacancy|news headline|summarize summary abstract|" +
  "calculate compute math arithmetic|person user member|meeting appointment calendar|task todo|" +
  "bug issue ticket|code script program|execute run launch|terminate kill stop|database db|save write|" +
  "send post|delete remove|record row entry|column field attribute|" +
  "paper publication research scholarly academic|book novel ebook|doctor medical health|" +
  "workout exercise fitness|car vehicle automobile|house property estate|money currency cash|" +
  "crypto cryptocurrency bitcoin|vocabulary dictionary definition|company business firm|nearby near around|" +
  "screenshot snapshot|click press tap|browser tab|comment reply remark|copy duplicate|" +
  "attach attachment upload|compress zip archive|spreadsheet excel sheet xlsx|" +
  "slide presentation powerpoint ppt deck|purchase buy shop shopping|price cost fee|discount coupon deal|" +
  "video youtube clip|language translate translation|quiz question trivia|joke humor funny|" +
  "log history trace|secret password credential|cluster kubernetes|pod container|chat conversation|" +
  "channel room|subject topic theme|keyword hashtag tag label|phone telephone mobile|sms message|" +
  "country nation|city town|sentence phrase|tax taxation|loan mortgage|invoice bill receipt|" +
  "delivery shipping shipment package parcel tracking|plant garden|pet dog cat animal|" +
  "fashion clothes clothing outfit|course lesson tutorial learn|school university college|lawyer legal law|" +
  "insurance policy|astrology horoscope zodiac|lyrics song|podcast episode|actor cast celebrity|team club|" +
  "match game fixture|player athlete|league tournament competition|wallpaper background|logo brand icon|" +
  "color colour|font typeface|ad advertisement advertising campaign|domain dns hostname|qr barcode|" +
  "resume cv|essay article|poem poetry|story tale|speed performance latency|error exception failure|" +
  "element component node|form input|collection table|query sql|schema structure|session login|" +
  "account profile|review rating feedback|holiday vacation|event concert festival|" +
  "ticket booking reservation book";

/** Chinese words with their English ones, as the pairs of characters that `words` makes. */
const CHINESE =
  "search 搜索|query 查询|get 获取|list 列表|create 创建|generate 生成|update 更新|delete 删除|send 发送|download 下载|upload 上传|" +
  "convert 转换|analyze 分析|translate 翻译|run 运行 执行|test 测试|news 新闻|weather 天气|file 文件|folder 件夹 目录|image 图片 图像|" +
  "video 视频|music 音乐|movie 电影|book 图书 书籍 读书|article 文章|topic 话题|trend trending hot 热榜 热门 热搜|ranking rank 排行 榜单|comment 评论|game 游戏|" +
  "recipe 菜谱 食谱|dish 菜品|map 地图|route 路线|address 地址|location 位置|nearby 附近|distance 距离|city 城市|hotel 酒店|ticket 车票|" +
  "train 火车 列车|station 车站|flight 航班|stock 股票|price 价格|time 时间|date 日期|calendar 日历|schedule 日程|task 任务|" +
  "note 笔记|document 文档|chart 图表|table 表格|data 数据|database 据库|code 代码|user 用户|account 账户|message 消息|email 邮件|" +
  "phone 电话 手机|password 密码|login 登录|webpage 网页|page 页面|link 链接|content 内容|screenshot 截图|click 点击|browser 浏览|" +
  "server 务器|keyword 键词|result 结果|title 标题|summary 摘要|picture 图片|company 公司|product 产品|order 订单|payment 支付|health 健康";

const NONE: readonly string[] = [];
/** Built at the first search, so that starting does not have to stem hundreds of words. */
let table: Map<string, string[]> | undefined;

/** Stems of the synonyms of a word. */
export function synonymsOf(word: string): readonly string[] {
  table ??= buildTable();
  return table.get(stem(word)) ?? NONE;
}

function buildTable(): Map<string, string[]> {
  const out = new Map<string, string[]>();
  for (const group of `${GROUPS}|${CHINESE}`.split("|")) {
    const stems = group.split(" ").map(stem);
    for (const one of stems) {
      out.set(one, [...new Set([...(out.get(one) ?? []), ...stems.filter((other) => other !== one)])]);
    }
  }
  return out;
}
