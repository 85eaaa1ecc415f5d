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
    <name>DefenderPage</name>
    <message>
        <source>Windows Defender (optional)</source>
        <translation>Windows Defender（可选）</translation>
    </message>
    <message>
        <source>Defender may scan the files of experts when they are read, and replies then stall for a second or three. You can exclude these files, and only these, from scanning. It costs some protection: a file with this ending in this place is no longer looked at. Programs are still scanned. Everything works without it.</source>
        <translation>Defender 可能在读取专家文件时进行扫描，回复会因此停顿一到三秒。您可以把这些文件（且仅这些文件）排除在扫描之外。代价是少一些保护：此处带有此扩展名的文件不再被检查。程序仍会被扫描。不排除也一切正常。</translation>
    </message>
    <message>
        <source>Exclude (Windows asks for permission)</source>
        <translation>排除（Windows 会请求许可）</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Copy the command</source>
        <translation>复制命令</translation>
    </message>
    <message>
        <source>Excluded</source>
        <translation>排除项</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>It is scanned again.</source>
        <translation>已恢复扫描。</translation>
    </message>
    <message>
        <source>It is excluded now.</source>
        <translation>已排除。</translation>
    </message>
    <message>
        <source>Nothing had to be changed.</source>
        <translation>无需更改。</translation>
    </message>
    <message>
        <source>You said no; nothing was changed. That is fine.</source>
        <translation>您选择了否，没有任何更改。没有关系。</translation>
    </message>
    <message>
        <source>The folder is not one that may be excluded.</source>
        <translation>此文件夹不可排除。</translation>
    </message>
    <message>
        <source>Windows took it but does not use it: your organisation manages Defender. Ask its administrators.</source>
        <translation>Windows 接受了但并未生效：Defender 由您的组织管理。请询问管理员。</translation>
    </message>
    <message>
        <source>Windows did not answer in time. Nothing is certain; look again.</source>
        <translation>Windows 没有及时回应。结果不确定，请再看一次。</translation>
    </message>
    <message>
        <source>Defender refused. It may be off, or another antivirus may be in charge.</source>
        <translation>Defender 拒绝了。它可能已关闭，或由其他杀毒软件负责。</translation>
    </message>
</context>
<context>
    <name>DoctorDialog</name>
    <message>
        <source>Check this computer</source>
        <translation>检查这台电脑</translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation>正在检查…</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>检查结果</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>重新检查</translation>
    </message>
    <message>
        <source>Save diagnostics…</source>
        <translation>保存诊断信息…</translation>
    </message>
    <message>
        <source>A zip file for asking for help: findings, settings and logs, no chats</source>
        <translation>用于求助的 zip 文件：检查结果、设置和日志，不含聊天内容</translation>
    </message>
    <message>
        <source>It could not be saved: {0}</source>
        <translation>无法保存：{0}</translation>
    </message>
    <message>
        <source>Saved as {0}. Look into it before you send it.</source>
        <translation>已保存为 {0}。发送之前请先查看内容。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Good</source>
        <translation>良好</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>提示</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>Problem</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Save diagnostics</source>
        <translation>保存诊断信息</translation>
    </message>
</context>
<context>
    <name>IoRow</name>
    <message>
        <source>Held</source>
        <translation>持有方式</translation>
    </message>
    <message>
        <source>mapped</source>
        <translation>映射</translation>
    </message>
    <message>
        <source>direct</source>
        <translation>直接</translation>
    </message>
    <message>
        <source>Mapped: experts are used where the system caches the model&apos;s files. Direct: they are read past that cache into this app&apos;s own memory.</source>
        <translation>映射：直接使用系统文件缓存中的专家。直接：绕过该缓存，把专家读入本应用自己的内存。</translation>
    </message>
    <message>
        <source>Chosen in the settings.</source>
        <translation>由设置指定。</translation>
    </message>
    <message>
        <source>Chosen because the whole model fits into the memory budget.</source>
        <translation>选择原因：内存预算放得下整个模型。</translation>
    </message>
    <message>
        <source>Chosen because this drive can be unplugged: that then costs one reply only.</source>
        <translation>选择原因：此驱动器可能被拔下，届时只会影响一次回复。</translation>
    </message>
    <message>
        <source>Chosen because free memory keeps most of what the budget misses.</source>
        <translation>选择原因：空闲内存能留住预算之外的大部分专家。</translation>
    </message>
    <message>
        <source>Chosen because there is little free memory beside the budget.</source>
        <translation>选择原因：预算之外的空闲内存很少。</translation>
    </message>
    <message>
        <source>Chosen because it was measured to be faster here.</source>
        <translation>选择原因：在本机实测更快。</translation>
    </message>
    <message>
        <source>Chosen by the free memory there is.</source>
        <translation>根据空闲内存选择。</translation>
    </message>
    <message>
        <source>Memory got short: the budget went from {0} to {1}.</source>
        <translation>内存不足：内存预算已从 {0} 降到 {1}。</translation>
    </message>
    <message>
        <source>This was changed while the model was open, because memory changed.</source>
        <translation>模型打开期间内存情况发生变化，因此更改了持有方式。</translation>
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
    <name>MachinePage</name>
    <message>
        <source>This computer</source>
        <translation>这台电脑</translation>
    </message>
    <message>
        <source>Progress of measuring</source>
        <translation>测量进度</translation>
    </message>
    <message>
        <source>Another folder…</source>
        <translation>其他文件夹…</translation>
    </message>
    <message>
        <source>Stop measuring</source>
        <translation>停止测量</translation>
    </message>
    <message>
        <source>Measure speed (5 s)</source>
        <translation>测量速度（5 秒）</translation>
    </message>
    <message>
        <source>{0}, {1} of it free now</source>
        <translation>{0}，其中 {1} 现在空闲</translation>
    </message>
    <message>
        <source>{0}, {1} threads, {2}</source>
        <translation>{0}，{1} 个线程，{2}</translation>
    </message>
    <message>
        <source>{0} ({1}), {2} free</source>
        <translation>{0}（{1}），{2} 可用</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>处理器</translation>
    </message>
    <message>
        <source>Models folder</source>
        <translation>模型文件夹</translation>
    </message>
    <message>
        <source>Drive</source>
        <translation>硬盘</translation>
    </message>
    <message>
        <source>Measured</source>
        <translation>实测</translation>
    </message>
    <message>
        <source>not yet</source>
        <translation>尚未测量</translation>
    </message>
    <message>
        <source>drive {0} in random reads, weights from memory {1}</source>
        <translation>硬盘随机读取 {0}，内存中的权重 {1}</translation>
    </message>
    <message>
        <source>(a cache helped the drive)</source>
        <translation>（硬盘借助了缓存）</translation>
    </message>
    <message>
        <source>NVMe SSD</source>
        <translation>NVMe 固态硬盘</translation>
    </message>
    <message>
        <source>SATA SSD</source>
        <translation>SATA 固态硬盘</translation>
    </message>
    <message>
        <source>hard disk</source>
        <translation>机械硬盘</translation>
    </message>
    <message>
        <source>USB drive or memory card</source>
        <translation>USB 盘或存储卡</translation>
    </message>
    <message>
        <source>network drive</source>
        <translation>网络盘</translation>
    </message>
    <message>
        <source>virtual drive</source>
        <translation>虚拟盘</translation>
    </message>
    <message>
        <source>unknown drive</source>
        <translation>未知的盘</translation>
    </message>
    <message>
        <source>{0} watches this folder and would upload every model: choose another.</source>
        <translation>{0} 会同步此文件夹并上传每个模型：请另选一个。</translation>
    </message>
    <message>
        <source>On a network drive every token waits for the network.</source>
        <translation>在网络盘上，每个词元都要等待网络。</translation>
    </message>
    <message>
        <source>Do not unplug this drive while a model is open.</source>
        <translation>模型打开时请勿拔出此盘。</translation>
    </message>
    <message>
        <source>This file system holds no file above 4 GB: large models fail.</source>
        <translation>此文件系统不能存放超过 4 GB 的文件：大模型会失败。</translation>
    </message>
    <message>
        <source>This folder is kept in memory, which the model needs itself.</source>
        <translation>此文件夹位于内存中，而模型自己需要内存。</translation>
    </message>
    <message>
        <source>Little room: a 30B model takes 17 GB, and 78 GB while it is made.</source>
        <translation>空间不多：一个 30B 模型占 17 GB，制作期间占 78 GB。</translation>
    </message>
    <message>
        <source>Edge0 cannot compute here. {0}</source>
        <translation>Edge0 无法在此计算。{0}</translation>
    </message>
    <message>
        <source>Nothing can be stored in this folder. {0}</source>
        <translation>此文件夹无法写入。{0}</translation>
    </message>
    <message>
        <source>With less than 8 GB of memory, small models run well here.</source>
        <translation>内存不足 8 GB，适合运行小模型。</translation>
    </message>
    <message>
        <source>Models that fit into memory run well; larger ones wait for this drive.</source>
        <translation>装得进内存的模型运行良好；更大的模型要等待这块硬盘。</translation>
    </message>
    <message>
        <source>Good so far. Measure the speed to learn how fast a model will be.</source>
        <translation>目前良好。测量速度即可知道模型会有多快。</translation>
    </message>
    <message>
        <source>A good machine: models larger than its memory run well from this drive.</source>
        <translation>很好的电脑：比内存大的模型也能从这块硬盘流畅运行。</translation>
    </message>
    <message>
        <source>Looking at this computer…</source>
        <translation>正在查看这台电脑…</translation>
    </message>
    <message>
        <source>Measuring the processor…</source>
        <translation>正在测量处理器…</translation>
    </message>
    <message>
        <source>Writing a test file…</source>
        <translation>正在写入测试文件…</translation>
    </message>
    <message>
        <source>Reading it in random places, past every cache…</source>
        <translation>正在绕过所有缓存随机读取…</translation>
    </message>
    <message>
        <source>Keep models in</source>
        <translation>模型存放于</translation>
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
    <name>ModelPage</name>
    <message>
        <source>Which model?</source>
        <translation>选择哪个模型？</translation>
    </message>
    <message>
        <source>The small starter model</source>
        <translation>小型入门模型</translation>
    </message>
    <message>
        <source>A model we suggest</source>
        <translation>我们推荐的模型</translation>
    </message>
    <message>
        <source>Any model of a hub, by its name</source>
        <translation>按名称选择模型库中的任意模型</translation>
    </message>
    <message>
        <source>Files on this computer</source>
        <translation>这台电脑上的文件</translation>
    </message>
    <message>
        <source>Where the model comes from</source>
        <translation>模型的来源</translation>
    </message>
    <message>
        <source>SmolLM2 135M, Apache-2.0, 93 MB. A dense model for a first try: it runs on any machine and answers simple questions.</source>
        <translation>SmolLM2 135M，Apache-2.0，93 MB。用于初次体验的稠密模型：任何电脑都能运行，可回答简单问题。</translation>
    </message>
    <message>
        <source>Suggested models</source>
        <translation>推荐的模型</translation>
    </message>
    <message>
        <source>only when there are several, e.g. Q8_0</source>
        <translation>仅当有多个时填写，例如 Q8_0</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>GGUF file</source>
        <translation>GGUF 文件</translation>
    </message>
    <message>
        <source>Qwen3-MoE, Mixtral, OLMoE, MiniMax-M2 and Llama models, as safetensors or GGUF. Only weights and settings are fetched, never programs.</source>
        <translation>支持 Qwen3-MoE、Mixtral、OLMoE、MiniMax-M2 和 Llama 模型，safetensors 或 GGUF 格式。只下载权重和设置，绝不下载程序。</translation>
    </message>
    <message>
        <source>Folder or file</source>
        <translation>文件夹或文件</translation>
    </message>
    <message>
        <source>A folder with safetensors files, or a GGUF file</source>
        <translation>含 safetensors 文件的文件夹，或 GGUF 文件</translation>
    </message>
    <message>
        <source>Folder…</source>
        <translation>文件夹…</translation>
    </message>
    <message>
        <source>GGUF file…</source>
        <translation>GGUF 文件…</translation>
    </message>
    <message>
        <source>The files stay where and as they are.</source>
        <translation>这些文件保持原样，不会移动。</translation>
    </message>
    <message>
        <source>only for models that ask for one</source>
        <translation>仅当模型要求时填写</translation>
    </message>
    <message>
        <source>Hub</source>
        <translation>模型库</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>令牌</translation>
    </message>
    <message>
        <source>Kept in memory until Edge0 ends; never sent to a mirror</source>
        <translation>只保存在内存中，直到 Edge0 退出；绝不发送给镜像</translation>
    </message>
    <message>
        <source>{0} B at a time</source>
        <translation>每次使用 {0} B</translation>
    </message>
    <message>
        <source>dense</source>
        <translation>稠密</translation>
    </message>
    <message>
        <source>{0} GB on disk</source>
        <translation>占盘 {0} GB</translation>
    </message>
    <message>
        <source>{0} Licence {1}; download {2} GB; for {3} GB of memory or more.</source>
        <translation>{0} 许可证 {1}；下载 {2} GB；适合 {3} GB 及以上内存。</translation>
    </message>
    <message>
        <source>Folder with a model</source>
        <translation>含模型的文件夹</translation>
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
        <source>Add a model…</source>
        <translation>添加模型…</translation>
    </message>
    <message>
        <source>Manage models…</source>
        <translation>管理模型…</translation>
    </message>
    <message>
        <source>Check this computer…</source>
        <translation>检查这台电脑…</translation>
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
    <name>ModelsDialog</name>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Models on this computer</source>
        <translation>这台电脑上的模型</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Chat with it</source>
        <translation>与它聊天</translation>
    </message>
    <message>
        <source>Show folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Check the files</source>
        <translation>检查文件</translation>
    </message>
    <message>
        <source>Lay out by use</source>
        <translation>按使用排列</translation>
    </message>
    <message>
        <source>Put the experts used most first: a faster cold start</source>
        <translation>把最常用的专家排在前面：冷启动更快</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Undo the deletion</source>
        <translation>撤销删除</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>not there: is its drive connected?</source>
        <translation>不在：硬盘已连接吗？</translation>
    </message>
    <message>
        <source>cannot be opened</source>
        <translation>无法打开</translation>
    </message>
    <message>
        <source>Checking {0}…</source>
        <translation>正在检查 {0}…</translation>
    </message>
    <message>
        <source>Laying out {0}…</source>
        <translation>正在排列 {0}…</translation>
    </message>
    <message>
        <source>{0}: every byte is as it was made.</source>
        <translation>{0}：每个字节都完好。</translation>
    </message>
    <message>
        <source>{0}: the experts used most come first now.</source>
        <translation>{0}：最常用的专家现在排在前面。</translation>
    </message>
    <message>
        <source>{0} was deleted. It is removed for good in a few minutes.</source>
        <translation>{0} 已删除。几分钟后将彻底移除。</translation>
    </message>
    <message>
        <source>{0} is back.</source>
        <translation>{0} 已恢复。</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>已停止。</translation>
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
    <name>OptionsPage</name>
    <message>
        <source>How to convert it</source>
        <translation>如何转换</translation>
    </message>
    <message>
        <source>nf4: 4 bits, best for most</source>
        <translation>nf4：4 位，多数情况最佳</translation>
    </message>
    <message>
        <source>int4: 4 bits, even steps</source>
        <translation>int4：4 位，等距</translation>
    </message>
    <message>
        <source>int8: 8 bits, nearly exact, twice the size</source>
        <translation>int8：8 位，几乎精确，两倍大小</translation>
    </message>
    <message>
        <source>bf16: 16 bits, exact, four times the size</source>
        <translation>bf16：16 位，精确，四倍大小</translation>
    </message>
    <message>
        <source>Number format</source>
        <translation>数值格式</translation>
    </message>
    <message>
        <source>Lay the experts used most first (a few minutes more)</source>
        <translation>把最常用的专家排在前面（多花几分钟）</translation>
    </message>
    <message>
        <source>Ask the hub what it takes</source>
        <translation>询问模型库需要多少资源</translation>
    </message>
    <message>
        <source>Looking into the model</source>
        <translation>正在查看模型</translation>
    </message>
    <message>
        <source>dense: all of it for every token</source>
        <translation>稠密：每个词元用到全部</translation>
    </message>
    <message>
        <source>{0} B used for a token</source>
        <translation>每个词元使用 {0} B</translation>
    </message>
    <message>
        <source>{0} B parameters</source>
        <translation>{0} B 参数</translation>
    </message>
    <message>
        <source>{0} while it is made, {1} afterwards; {2} are free</source>
        <translation>制作时 {0}，之后 {1}；可用 {2}</translation>
    </message>
    <message>
        <source>runs from {0}, well from {1}, all of it in memory from {2}</source>
        <translation>{0} 起可运行，{1} 起较好，{2} 起全部装入内存</translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation>{1} 中的 {0}</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>磁盘</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Free now</source>
        <translation>现在空闲</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>unknown: measure this computer on the first page</source>
        <translation>未知：请在第一页测量这台电脑</translation>
    </message>
    <message>
        <source>{0} to {1}; first word after {2} to {3}</source>
        <translation>{0} 到 {1}；{2} 到 {3} 后出现第一个词</translation>
    </message>
    <message>
        <source>The starter is ready made for a first try: just start.</source>
        <translation>入门模型已为初次体验准备好：直接开始即可。</translation>
    </message>
    <message>
        <source>You may also start at once; it asks first and checks the room.</source>
        <translation>也可以立即开始；它会先询问并检查空间。</translation>
    </message>
    <message>
        <source>There is too little room on the drive for it.</source>
        <translation>硬盘空间不足。</translation>
    </message>
    <message>
        <source>It does not fit into the memory that is free now. You may still try.</source>
        <translation>现在空闲的内存装不下它。仍可以试试。</translation>
    </message>
    <message>
        <source>It will run, but slower than a word a second.</source>
        <translation>可以运行，但每秒不到一个词。</translation>
    </message>
    <message>
        <source>It will run here. The drive is small for it, so each downloaded file is deleted once it is converted.</source>
        <translation>可以在此运行。磁盘空间不大，因此每个下载的文件转换后即删除。</translation>
    </message>
    <message>
        <source>It will run here.</source>
        <translation>可以在此运行。</translation>
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
        <source>Another model…</source>
        <translation>其他模型…</translation>
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
<context>
    <name>Wizard</name>
    <message>
        <source>Add a model</source>
        <translation>添加模型</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>上一步</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Start chatting</source>
        <translation>开始聊天</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一步</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>WorkPage</name>
    <message>
        <source>Getting the model</source>
        <translation>正在获取模型</translation>
    </message>
    <message>
        <source>Progress of getting the model</source>
        <translation>获取模型的进度</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>You may close this window, and chat with another model: the work goes on.</source>
        <translation>可以关闭此窗口并与其他模型聊天：工作会继续。</translation>
    </message>
    <message>
        <source>It did not work.</source>
        <translation>没有成功。</translation>
    </message>
    <message>
        <source>Paused. What is there is kept; it goes on from there.</source>
        <translation>已暂停。已有的部分会保留，之后从那里继续。</translation>
    </message>
    <message>
        <source>The model is ready.</source>
        <translation>模型已就绪。</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>正在开始…</translation>
    </message>
    <message>
        <source>Downloading: {0}</source>
        <translation>正在下载：{0}</translation>
    </message>
    <message>
        <source>{0} left</source>
        <translation>剩余 {0}</translation>
    </message>
</context>
</TS>
