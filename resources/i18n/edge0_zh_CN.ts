<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>Application</name>
    <message>
        <source>The chats could not be read. The damaged file was kept as {0}; a new one was made.</source>
        <translation>无法读取聊天记录。损坏的文件已保留为 {0}，并新建了一个。</translation>
    </message>
    <message>
        <source>Some settings could not be read and are back to their defaults: {0}</source>
        <translation>部分设置无法读取，已恢复默认值：{0}</translation>
    </message>
</context>
<context>
    <name>ChatPage</name>
    <message>
        <source>The reply is finished</source>
        <translation>回复已完成</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
</context>
<context>
    <name>ChatView</name>
    <message>
        <source>Conversation</source>
        <translation>对话</translation>
    </message>
</context>
<context>
    <name>CodeText</name>
    <message>
        <source>Code</source>
        <translation>代码</translation>
    </message>
</context>
<context>
    <name>CodeView</name>
    <message>
        <source>Copy code</source>
        <translation>复制代码</translation>
    </message>
    <message>
        <source>code</source>
        <translation>代码</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Message</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Write a message</source>
        <translation>输入消息</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
</context>
<context>
    <name>JumpButton</name>
    <message>
        <source>Go to the newest text</source>
        <translation>回到最新内容</translation>
    </message>
    <message>
        <source>new</source>
        <translation>最新</translation>
    </message>
</context>
<context>
    <name>LivePanel</name>
    <message>
        <source>Live numbers</source>
        <translation>实时数据</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Working set</source>
        <translation>工作集</translation>
    </message>
    <message>
        <source>Memory of this app that is in RAM right now. This is what the budget bounds.</source>
        <translation>本应用此刻实际占用的物理内存。内存预算限制的就是它。</translation>
    </message>
    <message>
        <source>Committed</source>
        <translation>已提交</translation>
    </message>
    <message>
        <source>Private memory the system has promised to this app. Model files that are only read do not count.</source>
        <translation>系统承诺给本应用的私有内存。只读的模型文件不计入。</translation>
    </message>
    <message>
        <source>Virtual</source>
        <translation>虚拟地址空间</translation>
    </message>
    <message>
        <source>Address space in use. Mapped model files count in full here, although most of them are not in RAM: a large number is normal and costs nothing.</source>
        <translation>已使用的地址空间。映射的模型文件在这里全部计入，但大部分并不在内存中：数字很大是正常的，不占用内存。</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV 缓存</translation>
    </message>
    <message>
        <source>Memory that holds the attention keys and values of the conversation.</source>
        <translation>保存本对话注意力键和值的内存。</translation>
    </message>
    <message>
        <source>SSD</source>
        <translation>固态硬盘</translation>
    </message>
    <message>
        <source>Read rate</source>
        <translation>读取速率</translation>
    </message>
    <message>
        <source>Expert reads</source>
        <translation>专家读取</translation>
    </message>
    <message>
        <source>Expert records read from the SSD each second.</source>
        <translation>每秒从固态硬盘读取的专家记录数。</translation>
    </message>
    <message>
        <source>Page faults, hard</source>
        <translation>硬缺页</translation>
    </message>
    <message>
        <source>Page faults each second that had to read from the drive.</source>
        <translation>每秒需要读盘的缺页次数。</translation>
    </message>
    <message>
        <source>Page faults, soft</source>
        <translation>软缺页</translation>
    </message>
    <message>
        <source>Page faults each second that found their page in memory already.</source>
        <translation>每秒所需页面已在内存中的缺页次数。</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>专家</translation>
    </message>
    <message>
        <source>Hit rate</source>
        <translation>命中率</translation>
    </message>
    <message>
        <source>Share of expert uses that were found in memory and not read from the SSD.</source>
        <translation>使用专家时已在内存中、无需读盘的比例。</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>首个词元</translation>
    </message>
    <message>
        <source>Time from sending the last prompt to the first text of its reply.</source>
        <translation>从发送上一条提示到回复出现第一个字的时间。</translation>
    </message>
    <message>
        <source>Prefill</source>
        <translation>预填充</translation>
    </message>
    <message>
        <source>Prompt tokens computed each second; reused ones do not count.</source>
        <translation>每秒计算的提示词元数；复用的不计入。</translation>
    </message>
    <message>
        <source>Decode</source>
        <translation>生成</translation>
    </message>
    <message>
        <source>Tokens written each second, without the first one.</source>
        <translation>每秒生成的词元数，不含第一个。</translation>
    </message>
    <message>
        <source>Bytes this app reads from the drive each second. Linux: counted below the page cache. Windows and macOS: as the system counts reads, which may include cached ones.</source>
        <translation>本应用每秒从硬盘读取的字节数。Linux：在页缓存之下统计。Windows 和 macOS：按系统的读取计数，可能包含缓存命中。</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>Edge0</source>
        <translation>Edge0</translation>
    </message>
    <message>
        <source>Show or hide the chats (Ctrl+B)</source>
        <translation>显示或隐藏聊天列表 (Ctrl+B)</translation>
    </message>
    <message>
        <source>Show or hide the live numbers (Ctrl+J)</source>
        <translation>显示或隐藏实时数据 (Ctrl+J)</translation>
    </message>
    <message>
        <source>The chat was deleted.</source>
        <translation>聊天已删除。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Open a model folder</source>
        <translation>打开模型文件夹</translation>
    </message>
    <message>
        <source>Something could not be saved: {0}</source>
        <translation>有内容未能保存：{0}</translation>
    </message>
</context>
<context>
    <name>MessageEditor</name>
    <message>
        <source>Edit message</source>
        <translation>编辑消息</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>MessageFooter</name>
    <message>
        <source>Copy message as Markdown</source>
        <translation>以 Markdown 复制消息</translation>
    </message>
    <message>
        <source>Edit and send again</source>
        <translation>编辑后重新发送</translation>
    </message>
    <message>
        <source>Write another reply</source>
        <translation>重新回复</translation>
    </message>
    <message>
        <source>Delete message</source>
        <translation>删除消息</translation>
    </message>
    <message>
        <source>Previous variant</source>
        <translation>上一个版本</translation>
    </message>
    <message>
        <source>Next variant</source>
        <translation>下一个版本</translation>
    </message>
</context>
<context>
    <name>MessageView</name>
    <message>
        <source>No reply was written.</source>
        <translation>没有写出回复。</translation>
    </message>
    <message>
        <source>Waiting for the model…</source>
        <translation>正在等待模型…</translation>
    </message>
    <message>
        <source>Reading the prompt: {0} of {1} tokens</source>
        <translation>正在读取提示：{0} / {1} 个词元</translation>
    </message>
    <message>
        <source>You wrote</source>
        <translation>你写道</translation>
    </message>
    <message>
        <source>Reply</source>
        <translation>回复</translation>
    </message>
    <message>
        <source>The reply failed.</source>
        <translation>回复失败。</translation>
    </message>
</context>
<context>
    <name>ModelPicker</name>
    <message>
        <source>Choose a model</source>
        <translation>选择模型</translation>
    </message>
    <message>
        <source>Opening {0}…</source>
        <translation>正在打开 {0}…</translation>
    </message>
    <message>
        <source>Opening {0}… {1} %</source>
        <translation>正在打开 {0}… {1} %</translation>
    </message>
    <message>
        <source>Model: {0}</source>
        <translation>模型：{0}</translation>
    </message>
    <message>
        <source>Open a model folder…</source>
        <translation>打开模型文件夹…</translation>
    </message>
    <message>
        <source>Get the starter model…</source>
        <translation>获取入门模型…</translation>
    </message>
    <message>
        <source>{0} (cannot be opened)</source>
        <translation>{0}（无法打开）</translation>
    </message>
    <message>
        <source>{0} (missing: take off the list)</source>
        <translation>{0}（找不到：从列表移除）</translation>
    </message>
</context>
<context>
    <name>NoticeBar</name>
    <message>
        <source>Notice</source>
        <translation>提示</translation>
    </message>
    <message>
        <source>Close this notice</source>
        <translation>关闭此提示</translation>
    </message>
</context>
<context>
    <name>ProseView</name>
    <message>
        <source>Message text</source>
        <translation>消息正文</translation>
    </message>
</context>
<context>
    <name>ReplyCaption</name>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Interrupted: Edge0 was closed</source>
        <translation>已中断：Edge0 被关闭</translation>
    </message>
    <message>
        <source>Cut at the length limit</source>
        <translation>达到长度上限</translation>
    </message>
    <message>
        <source>The context window is full</source>
        <translation>上下文已满</translation>
    </message>
    <message>
        <source>first token {0}</source>
        <translation>首个词元 {0}</translation>
    </message>
    <message>
        <source>hits {0}</source>
        <translation>命中 {0}</translation>
    </message>
    <message>
        <source>Prompt tokens</source>
        <translation>提示词元</translation>
    </message>
    <message>
        <source>of these reused</source>
        <translation>其中复用</translation>
    </message>
    <message>
        <source>Generated tokens</source>
        <translation>生成词元</translation>
    </message>
    <message>
        <source>First token after</source>
        <translation>首个词元用时</translation>
    </message>
    <message>
        <source>Prefill speed</source>
        <translation>预填充速度</translation>
    </message>
    <message>
        <source>Decode speed</source>
        <translation>生成速度</translation>
    </message>
    <message>
        <source>Experts found in memory</source>
        <translation>内存中找到的专家</translation>
    </message>
    <message>
        <source>Expert bytes read</source>
        <translation>读取的专家字节数</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV 缓存</translation>
    </message>
</context>
<context>
    <name>SettingsDialog</name>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Settings pages</source>
        <translation>设置页</translation>
    </message>
    <message>
        <source>General</source>
        <translation>通用</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>聊天</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>引擎</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>主题</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Ctrl+Enter sends, Enter breaks the line</source>
        <translation>Ctrl+Enter 发送，Enter 换行</translation>
    </message>
    <message>
        <source>How the model should behave, in every chat</source>
        <translation>希望模型在每个聊天中如何表现</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>Model&apos;s own</source>
        <translation>模型自己的</translation>
    </message>
    <message>
        <source>Another one each time</source>
        <translation>每次随机</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>0 always takes the likeliest token</source>
        <translation>0 表示总是取概率最高的词元</translation>
    </message>
    <message>
        <source>Longest reply</source>
        <translation>最长回复</translation>
    </message>
    <message>
        <source>In tokens</source>
        <translation>以词元计</translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <source>0 is off</source>
        <translation>0 表示关闭</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <source>1 is off</source>
        <translation>1 表示关闭</translation>
    </message>
    <message>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <translation>重复惩罚</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>随机种子</translation>
    </message>
    <message>
        <source>The same seed gives the same reply again</source>
        <translation>相同的种子会得到相同的回复</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Automatic: measure and choose</source>
        <translation>自动：测量后选择</translation>
    </message>
    <message>
        <source>Mapped: use the system&apos;s file cache</source>
        <translation>映射：使用系统文件缓存</translation>
    </message>
    <message>
        <source>Direct: read past the file cache</source>
        <translation>直接：绕过文件缓存读取</translation>
    </message>
    <message>
        <source>Memory budget</source>
        <translation>内存预算</translation>
    </message>
    <message>
        <source>How much RAM the whole app may use, everything included</source>
        <translation>整个应用最多可用的内存，全部计算在内</translation>
    </message>
    <message>
        <source>Expert reading</source>
        <translation>专家读取方式</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>线程</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>上下文长度</translation>
    </message>
    <message>
        <source>In tokens; a longer one needs more memory</source>
        <translation>以词元计；越长需要越多内存</translation>
    </message>
    <message>
        <source>Changes here open the model again.</source>
        <translation>更改后会重新打开模型。</translation>
    </message>
</context>
<context>
    <name>Sidebar</name>
    <message>
        <source>New chat</source>
        <translation>新聊天</translation>
    </message>
    <message>
        <source>Search chats</source>
        <translation>搜索聊天</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Chats</source>
        <translation>聊天列表</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>取消置顶</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>置顶</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
</context>
<context>
    <name>StarterCard</name>
    <message>
        <source>Welcome to Edge0</source>
        <translation>欢迎使用 Edge0</translation>
    </message>
    <message>
        <source>Progress of the starter model</source>
        <translation>入门模型的进度</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Open a model folder…</source>
        <translation>打开模型文件夹…</translation>
    </message>
    <message>
        <source>To try it out, Edge0 can fetch a small starter model (SmolLM2 135M, about 93 MB, Apache-2.0) and convert it for your SSD. It is a small dense model: good for a first try, not for hard questions. Nothing is downloaded before you press the button.</source>
        <translation>要先试一试，Edge0 可以获取一个小型入门模型（SmolLM2 135M，约 93 MB，Apache-2.0），并转换为适合固态硬盘的格式。它是一个小型稠密模型：适合初次体验，不适合难题。在你按下按钮之前不会下载任何内容。</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Get the starter model</source>
        <translation>获取入门模型</translation>
    </message>
    <message>
        <source>It did not work:</source>
        <translation>没有成功：</translation>
    </message>
    <message>
        <source>Stopped. What is there is kept; it goes on from there.</source>
        <translation>已停止。已有的内容会保留，之后从这里继续。</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>正在开始…</translation>
    </message>
</context>
<context>
    <name>TableText</name>
    <message>
        <source>Table</source>
        <translation>表格</translation>
    </message>
</context>
<context>
    <name>Welcome</name>
    <message>
        <source>What shall we talk about?</source>
        <translation>想聊点什么？</translation>
    </message>
    <message>
        <source>Everything stays on this computer.</source>
        <translation>一切都留在这台电脑上。</translation>
    </message>
</context>
</TS>
